import { backup } from './script/backup.ts';
import { files } from './script/files.ts';
import { load } from './script/load.ts';
import { scratchServer } from './script/scratch.ts';
import { shared } from './script/shared.ts';
import { swap } from './script/swap.ts';

/** One task runs at a time. Parts from killed tasks are removed. */
const main = String.raw`
touch $folder/.lock 2>/tmp/error || [ -e $folder/.lock ] || fail "the backup volume cannot be written: $(last_error /tmp/error)"
exec 9<$folder/.lock
! command -v flock >/dev/null 2>&1 || flock 9
rm -f $folder/*.part $folder/.*.part
$TASK
`;

/**
 * Script for backups and restores (POSIX sh, Debian or busybox programs). Writes one line of JSON to the termination
 * log, or one line with the failure reason, the data on the server, and the next step.
 *
 * Environment: TASK (backup, load or swap), HOST, PORT, DATABASE, RETENTION (files per kind; 0: nothing is removed),
 * SUFFIX (backup: file name suffix), EMPTY (backup: `yes` if the user accepted an empty volume after the last restore,
 * else ''), FILE (load: a file name, `latest` or `before-restore`), SAFETY (load: `yes` or `no`), CAPACITY (load: bytes
 * of the data volume; '': unknown). /etc/multinic has the login (backup.cnf) and the server's init file (init.sql).
 */
export const backupScript = [shared, files, scratchServer, backup, load, swap, main].join('');
