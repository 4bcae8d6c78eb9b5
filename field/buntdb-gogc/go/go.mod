module pair

go 1.19

require github.com/tidwall/buntdb v1.3.0
