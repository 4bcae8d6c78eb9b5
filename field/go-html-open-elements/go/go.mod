module field

go 1.23

require golang.org/x/net @VERSION@
