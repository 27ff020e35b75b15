import { refusals } from '../../model/mariadb/prepare-statuses.ts';

/** Shell function: writes the reason to the termination log and exits with status $1. */
export const refuse = String.raw`refuse() {
  status=$1
  shift
  echo "$*" >/dev/termination-log
  echo "$*" >&2
  exit "$status"
}`;

/** Shell function: prints the first version number in a text. */
export const number = String.raw`number() {
  sed -n 's/^[^0-9]*\([0-9][0-9]*\.[0-9][0-9]*\.[0-9][0-9]*\).*/\1/p;q'
}`;

/** Shell lines: refuse an image without the required programs. */
export const programs = String.raw`missing=
for program in mariadbd mariadb mariadb-dump mariadb-admin mariadb-install-db mariadb-upgrade sed grep ls head tail tr cut rm mv sync; do
  command -v $program >/dev/null 2>&1 || missing="$missing $program"
done
[ -z "$missing" ] || refuse ${refusals.missingPrograms} "the image has no$missing; set spec.database.image to an official mariadb image"`;

/**
 * Script of the init container (POSIX sh, Debian's and busybox's programs). Installs MariaDB's system tables into an
 * empty volume and upgrades tables of an older series. Refuses foreign files, and newer data, which an older server
 * opens and damages: the volume's mark names the newest series that has opened it. Writes `{"version": "10.11.19"}` to
 * the termination log, with `installedAt` if this release installed the data, or one line of text. An interrupted
 * installation starts again: its marker exists only while the volume is otherwise empty.
 */
export const prepareData = String.raw`set -eu
data=/var/lib/mysql
marker=$data/.multinic-install
opened=$data/.multinic-opened-by
since=$data/.multinic-installed-at
log=/tmp/prepare.log

${refuse}
${number}
${programs}

# The first errors of a log, else its last lines.
words() {
  { grep -i error "$1" || tail -n 3 "$1"; } | head -n 3 | cut -c1-300 | tr '\n' ' '
}
rank() {
  major=${'${1%%.*}'} rest=${'${1#*.}'}
  echo $((major * 1000 + ${'${rest%%.*}'}))
}
# Written before a server opens the files: from then on an older series refuses them.
mark() {
  echo "$own" >$opened.part
  sync
  mv $opened.part $opened
  sync
}
finish() {
  mark
  installed=
  [ ! -s $since ] || installed=", \"installedAt\": \"$(head -n 1 $since)\""
  echo "{\"version\": \"$own\"$installed}" >/dev/termination-log
  exit 0
}

own=$(mariadbd --no-defaults --version | number)
[ -n "$own" ] || refuse ${refusals.missingPrograms} "mariadbd of the image does not say its version"

if [ -e $marker ]; then
  rm -rf $data/..?* $data/.[!.]* $data/* 2>/dev/null || true
fi
if [ ! -d $data/mysql ]; then
  foreign=$(ls -A $data | grep -v -e '^lost+found$' -e '^\.multinic-' | head -n 3 | tr '\n' ' ')
  [ -z "$foreign" ] || refuse ${refusals.foreignFiles} "the volume holds files that are not MariaDB's: $foreign; empty the claim mysql-storage-mariadb-0, or use another volume"
  : >$marker
  mariadb-install-db --no-defaults --datadir=$data --tmpdir=/tmp --force --skip-name-resolve --skip-test-db \
    --auth-root-authentication-method=socket --auth-root-socket-user=root >$log 2>&1 ||
    refuse ${refusals.installFailed} "mariadb-install-db failed: $(words $log)"
  date -u +%Y-%m-%dT%H:%M:%SZ >$since
  sync
  rm $marker
  finish
fi
[ ! -e $data/mysql.ibd ] || refuse ${refusals.foreignFiles} "the volume holds data of MySQL 8, which MariaDB cannot read; use another volume"

# After an upgrade both files are there, and the younger series wrote the first one. Data of 10.5 and earlier may have
# none.
info=$data/mariadb_upgrade_info
[ -e $info ] || info=$data/mysql_upgrade_info
have=0.0.0
[ ! -e $info ] || have=$(number <$info)
[ -n "$have" ] || have=0.0.0
seen=$have
[ ! -e $opened ] || seen=$(number <$opened)
[ -n "$seen" ] && [ "$(rank "$seen")" -ge "$(rank "$have")" ] || seen=$have
if [ "$(rank "$seen")" -gt "$(rank "$own")" ]; then
  refuse ${refusals.newerData} "MariaDB $seen has opened the data and the image is $own: an older series would damage it; set spec.database.image to $seen or later"
fi
[ "$(rank "$have")" -lt "$(rank "$own")" ] || finish

# InnoDB refuses the redo log of an unclean stop of an older series before it changes a file.
not_opened() {
  if grep -q 'Upgrade after a crash is not supported' $log; then
    if [ -n "$former" ]; then echo "$former" >$opened; else rm -f $opened; fi
    sync
    refuse ${refusals.openRefused} "MariaDB $own cannot open data of $have after an unclean stop, and has not changed it: $(words $log); set spec.database.image back, so that $have stops cleanly"
  fi
  refuse ${refusals.upgradeFailed} "MariaDB $own ended while it opened data of $have: $(words $log); $after"
}
after="$have must not open it again: try the image of $own again, or restore a backup into an empty volume"
former=$(cat $opened 2>/dev/null || true)
mark
mariadbd --no-defaults --datadir=$data --socket=/run/mysqld/upgrade.sock --pid-file=/run/mysqld/upgrade.pid \
  --tmpdir=/tmp --skip-networking --skip-grant-tables >$log 2>&1 &
server=$!
until mariadb-admin --no-defaults --socket=/run/mysqld/upgrade.sock ping >/dev/null 2>&1; do
  kill -0 $server 2>/dev/null || not_opened
  sleep 0.2
done
mariadb-upgrade --no-defaults --socket=/run/mysqld/upgrade.sock --upgrade-system-tables >/tmp/upgrade.log 2>&1 || {
  kill $server
  wait $server || true
  refuse ${refusals.upgradeFailed} "mariadb-upgrade from $have to $own failed: $(words /tmp/upgrade.log); $after"
}
kill $server
wait $server || true
finish
`;
