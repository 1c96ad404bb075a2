//! The scripts of the shells. They only ask the program, so they stay small.

use crate::failure::{Failure, Outcome};

/// The shells, the file names under which each looks for scripts, and the scripts.
pub const SCRIPTS: &[(&str, &str, &str)] = &[
    ("bash", "mfa.bash", BASH),
    ("zsh", "_mfa", ZSH),
    ("fish", "mfa.fish", FISH),
    ("powershell", "_mfa.ps1", POWERSHELL),
];

const BASH: &str = r#"# Completion of mfa for bash: source this file, or put it into bash-completion's folder.
_mfa() {
    local i line rest=$COMP_LINE word words=() start=''
    # bash also splits at = and :, which are parts of words here.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((${#words[@]} > 0)) && [[ $rest != [[:space:]]* && -n $word ]]; then
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
        rest=${rest#"${rest%%[![:space:]]*}"}
        rest=${rest#"$word"}
    done
    word=${words[${#words[@]} - 1]}
    if [[ $word == *[=:]* ]]; then
        start=${word%"${word##*[=:]}"}
    fi
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == *:files ]]; then
            compopt -o default
            return
        fi
        if [[ $line == *[=/] ]]; then
            compopt -o nospace
        fi
        COMPREPLY+=("$(printf '%q' "${line#"$start"}")")
    done < <("${words[0]}" complete -q -o id -- "${words[@]:1}" 2>/dev/null)
}
complete -F _mfa mfa mfactl
"#;

const ZSH: &str = r#"#compdef mfa mfactl
# Completion of mfa for zsh: put this file into a folder of $fpath.
_mfa() {
    local line value help
    local -a described open
    while IFS= read -r line; do
        value=${line%%$'\t'*}
        help=${line#*$'\t'}
        if [[ $value == *:files ]]; then
            _files
            return
        fi
        if [[ $value == *[=/] ]]; then
            open+=("$value")
        else
            described+=("${value//:/\\:}${help:+:$help}")
        fi
    done < <("${(Q)words[1]}" complete -q -o tsv --no-header -- "${(@)words[2,CURRENT]}" 2>/dev/null)
    (( $#open )) && compadd -S '' -- "${open[@]}"
    (( $#described )) && _describe mfa described
    return 0
}
if [ "$funcstack[1]" = _mfa ]; then
    _mfa "$@"
else
    compdef _mfa mfa mfactl
fi
"#;

const FISH: &str = r#"# Completion of mfa for fish: put this file into ~/.config/fish/completions.
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
"#;

const POWERSHELL: &str = r#"# Completion of mfa for PowerShell: run this file from $PROFILE.
Register-ArgumentCompleter -Native -CommandName mfa, mfactl -ScriptBlock {
    param($word, $line, $position)
    $program = $line.CommandElements[0].ToString()
    $words = @($line.CommandElements | Select-Object -Skip 1 | ForEach-Object {
        if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value }
        else { $_.ToString() }
    })
    if ($word -eq '') { $words += '' }
    $found = @(& $program complete -q -o tsv --no-header -- @words 2>$null)
    # PowerShell looks for files by itself where it is given nothing, and not where it is given an empty text.
    if ($found -match ':files') { return }
    if ($found.Count -eq 0) { return '' }
    $found | ForEach-Object {
        $value, $help = $_ -split "`t", 2
        if (-not $help) { $help = $value }
        $word = $value
        # It is put into the line as it is, and PowerShell takes four signs for a single quote.
        if ($value -notmatch '^[A-Za-z0-9._/:=+,-]+\z') {
            $word = "'" + ($value -replace "['\u2018-\u201b]", '$0$0') + "'"
        }
        [System.Management.Automation.CompletionResult]::new($word, $value, 'ParameterValue', $help)
    }
}
"#;

pub fn script(shell: &str) -> Outcome<&'static str> {
    let found = SCRIPTS.iter().find(|(name, ..)| *name == shell);
    found.map(|(.., script)| *script).ok_or_else(|| Failure::usage(format!("{shell} is not known")))
}
