# Archives the files of the disk image $1, mounted at $2, with a read-ahead of $3 sectors, several times; each mount begins with an empty cache.
for pass in 1 2 3 4 5; do
    mount -o loop,ro "$1" "$2"
    blockdev --setra "$3" "$(findmnt -n -o SOURCE "$2")"
    tar -C "$2" --exclude lost+found -cf - . | cat >/dev/null
    umount "$2"
done
