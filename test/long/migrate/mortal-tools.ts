import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toolPath } from '../../../rig/control-plane/control-plane.ts';

/** A folder with kubectl and helm in which whoever calls them dies by SIGKILL as soon as they have changed something. */
export interface MortalTools {
  readonly path: string;
  /** From now on each change that was not made since is deadly once, helm's twice: in the middle of its work, and at its end. */
  dieAtEach(): Promise<void>;
  /** From now on only changes are deadly, once, whose command this matches; `middle … upgrade …` is helm in the middle of its work. */
  dieAt(command: RegExp): Promise<void>;
}

export async function mortalTools(folder: string): Promise<MortalTools> {
  await mkdir(folder, { recursive: true });
  const survived = join(folder, 'survived');
  const deadly = join(folder, 'deadly');
  const die = async (pattern: string): Promise<void> => {
    await writeFile(deadly, `${pattern}\n`);
    await writeFile(survived, '');
  };
  await die('^$');
  const kubectl = await toolPath('kubectl');
  for (const tool of ['kubectl', 'helm'] as const) {
    const file = join(folder, tool);
    await writeFile(file, script({ real: await toolPath(tool), kubectl, deadly, survived }));
    await chmod(file, 0o755);
  }
  return { path: folder, dieAtEach: () => die('.'), dieAt: ({ source }) => die(source) };
}

interface Tools {
  readonly real: string;
  readonly kubectl: string;
  readonly deadly: string;
  readonly survived: string;
}

/** Files of the caller's own have other names each time it runs. */
function script({ real, kubectl, deadly, survived }: Tools): string {
  return `#!/usr/bin/env bash
verb='' namespace=default previous=''
for word; do
  case $previous in
    -n | --namespace) namespace=$word ;;
    --context | --kube-context | --kubeconfig) ;;
    *) [[ $verb || $word == -* ]] || verb=$word ;;
  esac
  previous=$word
done
writes=' scale delete create apply patch annotate label replace set upgrade uninstall rollback '
[[ $writes == *" $verb "* && " $* " != *' --dry-run'* && "$*" != *.status.allowed* ]] || exec ${real} "$@"
made=$(sed -E 's#[^ ]*/tmp\\.[^/ ]+##g' <<<" $*")
pattern=$(<${deadly})

# deadly WHAT: whether its caller dies of it, which happens once.
deadly() {
  [[ $1 =~ $pattern ]] && ! grep -Fqx -- "$1" ${survived} || return 1
  printf '%s\\n' "$1" >>${survived}
}

half_done() {
  [[ -n $(${kubectl} get secrets -n "$namespace" -l 'owner=helm,status in (pending-install,pending-upgrade,uninstalling)' -o name) ]]
}

if [[ $verb == upgrade ]] && deadly "middle$made"; then
  ${real} "$@" &
  until half_done; do
    kill -0 $! 2>/dev/null || { wait $!; exit $?; }
  done
  kill -KILL $! $PPID
  exit 137
fi
${real} "$@"
code=$?
deadly "$made" && kill -KILL $PPID
exit $code
`;
}
