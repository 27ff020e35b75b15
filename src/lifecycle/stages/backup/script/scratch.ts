import { backupAccount } from '../../../model/mariadb/login.ts';

/**
 * Temporary server in this Pod, for a trial of each file. It has grant tables, and the init file, schema name and
 * account of the real server. Account `scratch` has no password and is reachable through this Pod's socket only; this
 * account creates the accounts from DEFINER clauses.
 */
export const scratchServer = String.raw`
local_program() {
  program=$1
  shift
  "$program" --defaults-file="$options" --default-character-set=utf8mb4 --socket=$scratch/sock "$@"
}
local_sql() {
  local_program mariadb --batch --raw --skip-column-names "$@"
}
scratch_root() {
  program=$1
  shift
  "$program" --no-defaults --socket=$scratch/sock --user=scratch "$@"
}
start_scratch() {
  rm -rf $scratch/data
  mkdir -p $scratch/data
  patiently mariadb-install-db --no-defaults --datadir=$scratch/data --tmpdir=/tmp --force --skip-name-resolve --skip-test-db \
    --auth-root-authentication-method=socket --auth-root-socket-user=root >/tmp/scratch.log 2>&1 ||
    fail "the temporary server that verifies dumps cannot be installed: $(last_error /tmp/scratch.log)"
  cat /etc/multinic/init.sql >/tmp/scratch.sql
  echo "CREATE USER 'scratch'@'localhost';" >>/tmp/scratch.sql
  echo "GRANT ALL PRIVILEGES ON *.* TO 'scratch'@'localhost' WITH GRANT OPTION;" >>/tmp/scratch.sql
  mariadbd --no-defaults --datadir=$scratch/data --socket=$scratch/sock --pid-file=$scratch/pid --tmpdir=/tmp \
    --skip-networking --skip-name-resolve --skip-log-bin --character-set-server=utf8mb4 --init-file=/tmp/scratch.sql \
    --innodb-buffer-pool-size=16M --innodb-log-file-size=10M --innodb-flush-log-at-trx-commit=0 >/tmp/scratch.log 2>&1 &
  server=$!
  until scratch_root mariadb-admin ping >/dev/null 2>&1; do
    kill -0 "$server" 2>/dev/null || fail "the temporary server that verifies dumps does not start: $(grep ERROR /tmp/scratch.log | head -n 2 | tr '\n' ' ')"
    sleep 0.2
  done
}
# Loads a file into an empty schema.
load_scratch() {
  local_sql --execute="DROP DATABASE IF EXISTS $(quoted "$live"); CREATE DATABASE $(quoted "$live") CHARACTER SET utf8mb4" 2>/tmp/error || return 1
  missing_definers "$1" local_sql >/tmp/missing 2>/tmp/error || return 1
  while read -r one; do
    case $one in
      *@*) echo "CREATE USER $one; GRANT ALL PRIVILEGES ON *.* TO $one;" ;;
      *) echo "CREATE ROLE $one;" ;;
    esac
  done </tmp/missing >/tmp/definers.sql
  scratch_root mariadb --batch </tmp/definers.sql 2>/tmp/error || return 1
  local_sql "$live" <"$1" 2>/tmp/error
}
# Why the server refuses a file.
load_error() {
  last_error /tmp/error
  ! grep -q 'ERROR \(1142\|1044\)' /tmp/error || echo "(a view, foreign key or statement uses another schema, where account ${backupAccount} has no rights)"
}

# Rows of a dump with one INSERT a row, as "rows table". Bodies of triggers, routines and events may hold such lines.
rows_written() {
  sed -n -e '/^DELIMITER ;;/,/^DELIMITER ;$/d' -e "s/^INSERT INTO \($tick[^$tick]*$tick\) .*/\1/p" "$1" | uniq -c | sed 's/^ *//' | sort
}
definer='^(CREATE|\/\*!50[0-9]+)( CREATE\*\/ \/\*!50[0-9]+)? DEFINER='
# Accounts and roles that own programs of a file, as the file writes them.
definers_of() {
  sed -n -E -e '/^INSERT INTO/d' -e "s/$definer($tick[^$tick]*$tick(@$tick[^$tick]*$tick)?).*/\3/p" "$1" | sort -u
}
missing_definers() {
  definers_of "$1" >/tmp/definers
  "$2" --execute="SELECT CONCAT('$tick', User, '$tick', IF(Host = '', '', CONCAT('@$tick', Host, '$tick'))) FROM mysql.user" >/tmp/accounts || return 1
  grep -Fxv -f /tmp/accounts /tmp/definers || true
}
# The file $1 with the definers listed in the file $2 replaced.
replace_definers() {
  while read -r one; do
    pattern=$(printf '%s' "$one" | sed 's/[].[*^$\\/(){}+?|]/\\&/g')
    printf '%s\n' "s/$definer$pattern([ *])/\1\2 DEFINER=$(quoted ${backupAccount})@$(quoted %)\3/"
  done <"$2" >/tmp/definers.sed
  sed -E -f /tmp/definers.sed "$1"
}
`;
