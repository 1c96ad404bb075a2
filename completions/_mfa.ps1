# Completion of mfa for PowerShell: run this file from $PROFILE.
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
