# Completion of mfa for fish: put this file into ~/.config/fish/completions.
function __mfa_complete
    set -l words (commandline -opc)[2..] (commandline -ct)
    mfa complete -q -o tsv --no-header -- $words 2>/dev/null
end
complete -c mfa -a '(__mfa_complete)'
