/** Exit statuses of the init container: reasons for blocking mariadbd from the volume. */
export const refusals = {
  newerData: 3,
  foreignFiles: 4,
  installFailed: 5,
  upgradeFailed: 6,
  missingPrograms: 7,
} as const;

/**
 * Script of the init container (POSIX sh, Debian's and busybox's programs). Installs MariaDB's system tables into an
 * empty volume and upgrades tables of an older series. Refuses foreign files, and newer data, which an older server
 * opens and damages. Writes `{"version": "10.11.19"}` or one line of text to the termination log. An interrupted
 * installation starts again: its marker exists only while the volume is otherwise empty.
 */
export const prepareData = String.raw`set -eu
data=/var/lib/mysql
marker=$data/.multinic-install
log=/tmp/prepare.log

refuse() {
  status=$1
  shift
  echo "$*" >/dev/termination-log
  echo "$*" >&2
  exit "$status"
}

missing=
for program in mariadbd mariadb mariadb-dump mariadb-admin mariadb-install-db mariadb-upgrade sed grep ls head tail tr cut rm; do
  command -v $program >/dev/null 2>&1 || missing="$missing $program"
done
[ -z "$missing" ] || refuse ${refusals.missingPrograms} "the image has no$missing; set spec.database.image to an official mariadb image"

# The first errors of a log, else its last lines.
words() {
  { grep -i error "$1" || tail -n 3 "$1"; } | head -n 3 | cut -c1-300 | tr '\n' ' '
}
number() {
  sed -n 's/^[^0-9]*\([0-9][0-9]*\.[0-9][0-9]*\.[0-9][0-9]*\).*/\1/p;q'
}
rank() {
  major=${'${1%%.*}'} rest=${'${1#*.}'}
  echo $((major * 1000 + ${'${rest%%.*}'}))
}
finish() {
  echo "{\"version\": \"$own\"}" >/dev/termination-log
  exit 0
}

own=$(mariadbd --no-defaults --version | number)
[ -n "$own" ] || refuse ${refusals.missingPrograms} "mariadbd of the image does not say its version"

if [ -e $marker ]; then
  rm -rf $data/..?* $data/.[!.]* $data/* 2>/dev/null || true
fi
if [ ! -d $data/mysql ]; then
  foreign=$(ls -A $data | grep -v '^lost+found$' | head -n 3 | tr '\n' ' ')
  [ -z "$foreign" ] || refuse ${refusals.foreignFiles} "the volume holds files that are not MariaDB's: $foreign; empty the claim mysql-storage-mariadb-0, or use another volume"
  : >$marker
  mariadb-install-db --no-defaults --datadir=$data --tmpdir=/tmp --force --skip-name-resolve --skip-test-db \
    --auth-root-authentication-method=socket --auth-root-socket-user=root >$log 2>&1 ||
    refuse ${refusals.installFailed} "mariadb-install-db failed: $(words $log)"
  rm $marker
  finish
fi
[ ! -e $data/mysql.ibd ] || refuse ${refusals.foreignFiles} "the volume holds data of MySQL 8, which MariaDB cannot read; use another volume"

# After an upgrade both files are there, and the younger series wrote the first one. Data of 10.5 and earlier may have none.
mark=$data/mariadb_upgrade_info
[ -e $mark ] || mark=$data/mysql_upgrade_info
have=0.0.0
[ ! -e $mark ] || have=$(number <$mark)
[ -n "$have" ] || have=0.0.0
if [ "$(rank "$have")" -gt "$(rank "$own")" ]; then
  refuse ${refusals.newerData} "the data is of MariaDB $have and the image is $own: an older series would damage it; set spec.database.image to $have or later"
fi
[ "$(rank "$have")" -lt "$(rank "$own")" ] || finish

mariadbd --no-defaults --datadir=$data --socket=/run/mysqld/upgrade.sock --pid-file=/run/mysqld/upgrade.pid \
  --tmpdir=/tmp --skip-networking --skip-grant-tables >$log 2>&1 &
server=$!
until mariadb-admin --no-defaults --socket=/run/mysqld/upgrade.sock ping >/dev/null 2>&1; do
  kill -0 $server 2>/dev/null ||
    refuse ${refusals.upgradeFailed} "MariaDB $own cannot open data of $have: $(words $log); set spec.database.image back, so that $have stops cleanly"
  sleep 0.2
done
mariadb-upgrade --no-defaults --socket=/run/mysqld/upgrade.sock --upgrade-system-tables >/tmp/upgrade.log 2>&1 || {
  kill $server
  wait $server || true
  refuse ${refusals.upgradeFailed} "mariadb-upgrade from $have to $own failed: $(words /tmp/upgrade.log)"
}
kill $server
wait $server || true
finish
`;
