module catalogue

go 1.19
