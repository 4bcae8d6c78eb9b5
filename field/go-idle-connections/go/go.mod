module crawler

go 1.19
