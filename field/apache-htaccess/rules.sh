# The rules of a shop that moved its old addresses, one for each article.
echo "RewriteEngine On"
for ((article = 1; article <= 150; article++)); do
    echo "RewriteRule ^old/shop-$article/([a-z]+)-([0-9]+)\.html$ /shop/\$1/\$2 [R=301,L]"
done
