import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NamespaceHost } from '../../rig/hosts/namespace/host.ts';

/**
 * Creates a directory with an `ip` running batches line by line. `each` is bash executed before each line, with
 * `$line`, its `$number` and `fail WORDS`.
 */
export async function ipWith(host: Pick<NamespaceHost, 'root'>, each: string): Promise<string> {
  const directory = join(host.root, 'bin');
  await mkdir(directory, { recursive: true });
  const script = `#!/usr/bin/env bash
export PATH=\${PATH#*:}
[ "$*" = '-N -j -d -batch -' ] || exec ip "$@"
number=0
fail() { echo "$1" >&2; echo "Command failed -:$number" >&2; exit 1; }
while IFS= read -r line; do
  number=$((number + 1))
  ${each}
  case $line in
    *show*) ip -N -j -d $line; continue ;;
  esac
  said=$(ip $line 2>&1) || fail "$said"
done
`;
  await writeFile(join(directory, 'ip'), script);
  await chmod(join(directory, 'ip'), 0o755);
  return directory;
}

const denied = 'RTNETLINK answers: Operation not permitted';

/** Creates an `ip` refusing lines with a match for the pattern. */
export function denyingIp(host: NamespaceHost, pattern: string): Promise<string> {
  return ipWith(host, `[[ $line =~ ${pattern} ]] && fail '${denied}'`);
}

/** Creates an `ip` for a kernel before 6.2, which renames only links in state down; `each` as in `ipWith`. */
export function ipOnOldKernel(host: NamespaceHost, each = ''): Promise<string> {
  return ipWith(
    host,
    `set -- $line
  if [ "$1 $5" = 'link name' ] && ip -br link show dev "$4" | grep -q '[<,]UP[,>]'; then
    fail 'RTNETLINK answers: Device or resource busy'
  fi
  ${each}`,
  );
}
