//! The pager: only where the output would scroll.

use crate::support::terminal::Terminal;
use crate::support::world::World;
use std::fs;

#[test]
fn only_output_longer_than_the_screen_goes_through_the_chosen_pager() {
    let world = World::start();
    let [ours, theirs] = ["ours", "theirs"].map(|name| world.dir.path().join(name));
    // Pagers that keep what they show.
    let pagers = [("MFA_PAGER", "tee ours"), ("PAGER", "tee theirs")];
    let terminal = Terminal::start(&world, 120, &pagers);
    for (line, pages) in [
        ("mfa explain error", [true, false]),
        ("mfa explain error -o json", [true, false]),
        ("env -u MFA_PAGER mfa explain error", [false, true]),
        ("mfa explain error --no-pager", [false, false]),
        ("MFA_PAGER= mfa explain error", [false, false]),
        ("MFA_PAGER=no-such-program mfa explain error", [false, false]),
        ("mfa explain error | cat", [false, false]),
        ("mfa version", [false, false]),
    ] {
        let screen = terminal.run(line);
        assert!(screen.ends_with("\nexit 0\n$") && screen.lines().count() > 5, "{line}: {screen}");
        assert_eq!([&ours, &theirs].map(|file| file.exists()), pages, "{line}");
        for file in [&ours, &theirs].into_iter().filter(|file| file.exists()) {
            assert!(fs::read_to_string(file).unwrap().contains("wrong_state"), "{line}");
            fs::remove_file(file).unwrap();
        }
    }
}

#[test]
fn ctrl_c_is_for_the_pager_and_the_command_ends_after_it() {
    let world = World::start();
    let pager = "trap 'echo caught' INT\ncat >/dev/null\necho up\n\
                 while ! read key </dev/tty; do :; done\necho ended\n";
    fs::write(world.dir.path().join("pager"), pager).unwrap();
    let terminal = Terminal::start(&world, 120, &[("MFA_PAGER", "sh pager")]);
    terminal.type_line("clear; mfa explain error; echo exit $?");
    terminal.wait_for("up");
    terminal.press("C-c");
    terminal.wait_for("caught");
    terminal.type_line("");
    let screen = terminal.wait_for("ended\nexit 0\n$");
    assert!(!screen.contains("interrupted"), "{screen}");
}
