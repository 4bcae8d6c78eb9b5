/*
 * What a guest's shell lacks to try a recorder with other privileges.
 *
 * usage: privilege grant FILE            gives FILE the capabilities cap_bpf and cap_perfmon, as `setcap cap_bpf,cap_perfmon+ep FILE` does
 *        privilege drop COMMAND…         runs COMMAND as user 1000 of group 1000, without any capability
 */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

static int fails(const char *what)
{
	fprintf(stderr, "privilege: %s: %s\n", what, strerror(errno));
	return 1;
}

static int grant(const char *file)
{
	struct vfs_cap_data capabilities = {.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE};

	/* Both are above 31: in the second word. */
	capabilities.data[1].permitted = 1u << (CAP_PERFMON - 32) | 1u << (CAP_BPF - 32);
	return setxattr(file, "security.capability", &capabilities, XATTR_CAPS_SZ_2, 0) ? fails(file) : 0;
}

int main(int count, char **arguments)
{
	if (count == 3 && !strcmp(arguments[1], "grant"))
		return grant(arguments[2]);
	if (count < 3 || strcmp(arguments[1], "drop")) {
		fprintf(stderr, "usage: privilege grant FILE | privilege drop COMMAND...\n");
		return 2;
	}
	if (setgroups(0, 0) || setgid(1000) || setuid(1000))
		return fails("user 1000");
	execvp(arguments[2], arguments + 2);
	return fails(arguments[2]);
}
