# Builds many.deb in $FILES: $1 small files.
mkdir -p many/DEBIAN
printf 'Package: many\nVersion: 1\nArchitecture: all\nMaintainer: nobody <nobody@localhost>\nDescription: many small files\n' >many/DEBIAN/control
for number in $(seq "$1"); do
    folder=many/usr/share/many/$((number % 50))
    [[ -d $folder ]] || mkdir -p "$folder"
    echo "file $number of a package" >"$folder/$number.txt"
done
dpkg-deb --build --root-owner-group -Zgzip many many.deb >/dev/null
rm -r many
