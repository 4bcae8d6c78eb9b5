module field

go 1.23

require github.com/golang-jwt/jwt/v5 @VERSION@
