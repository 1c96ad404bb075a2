# Completion of mfa for fish: put this file into ~/.config/fish/completions.
function __mfa_complete
    set -l program (commandline -opc)[1]
    set -l words (commandline -opc)[2..] (commandline -ct)
    set -l found ($program complete -q -o tsv --no-header -- $words 2>/dev/null)
    if string match -q '*:files*' -- $found
        __fish_complete_path (commandline -ct)
    else if test (count $found) -gt 0
        printf '%s\n' $found
    end
end
complete -c mfa -f -a '(__mfa_complete)'
complete -c mfactl -f -a '(__mfa_complete)'
