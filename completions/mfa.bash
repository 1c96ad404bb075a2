# Completion of mfa for bash: source this file, or put it into bash-completion's folder.
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
