# Completion of mfa for bash: source this file, or put it into bash-completion's folder.
_mfa() {
    local line words=("${COMP_WORDS[@]:1:COMP_CWORD}")
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("$(printf '%q' "$line")")
    done < <(mfa complete -q -o id -- "${words[@]}" 2>/dev/null)
}
complete -o default -F _mfa mfa
