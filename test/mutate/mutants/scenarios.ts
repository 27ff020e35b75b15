import { namePattern } from '../../scenarios/scenario.ts';
import type { Mutant } from '../mutant.ts';

type Change = readonly [file: string, find: string, replace: string];

function noticed(
  project: 'unit' | 'namespaces',
  file: string,
  title: string,
  change: Change,
): Mutant {
  const [changed, find, replace] = change;
  return { file: changed, find, replace, tests: [project, file], named: namePattern(title) };
}

const unit = (file: string, title: string, ...change: Change) =>
  noticed('unit', file, title, change);
const onHost = (name: string, title: string, ...change: Change) =>
  noticed('namespaces', `test/namespaces/${name}.test.ts`, title, change);

const agent = 'src/agent';
const kernelRefuses =
  'rollback > a new NIC is as it was when the kernel refuses %s; the others are configured';
const secondJob =
  'a host of NetworkManager, on which netplan is installed too > is configured by the second Job: %s';
const named = 'attach > a NIC gets name, MTU, address, routes, rule and a file only root can read';
const forBoot = 'netplan > renders one NIC, for a boot that leaves nothing to chance';

/** What went wrong in the field, brought back in one line each, by the id of the scenario: its own test has to notice. */
export const scenarioMutants: Readonly<Record<string, Mutant>> = {
  'RW-01': onHost(
    'odd-ip',
    'an ip that %s is told with each NIC, and nothing is touched',
    `${agent}/ip-session.ts`,
    "if (error.code !== 'ENOENT') return error;",
    "if (error.code !== '') return error;",
  ),
  'RW-02': onHost(
    'rollback',
    'a file system that has become read-only > at %s changes nothing, and needs no restart',
    `${agent}/apply/transaction.ts`,
    "await work.each('PersistFailed', (unit) => stageFiles(unit.files, context));",
    '',
  ),
  'RW-03': unit(
    'src/agent/apply/disk.test.ts',
    'a file that is %s > is not to be seen until the commit',
    `${agent}/apply/disk.ts`,
    'if (change.after !== null) writeNew(staged, change.after, change.mode);',
    'if (change.after !== null) writeNew(path, change.after, change.mode);',
  ),
  'RW-04': unit(
    'src/agent/backends/backends.test.ts',
    'the Pod for $name > can write all files of NIC %i',
    'src/api/host-mounts.ts',
    "const linkFiles = written('udev-links'",
    "const linkFiles = read('udev-links'",
  ),
  'RW-05': onHost(
    'answer',
    'a Job that was made for another family > is told which one the host is of, and touches nothing',
    `${agent}/fit.ts`,
    '  if (family === made) return',
    '  if (family) return',
  ),
  'RW-07': unit(
    'test/property/agent-answer.test.ts',
    'a run of the agent > that cannot end what an earlier one left in hand says so, and serves the other NICs',
    `${agent}/apply/recover.ts`,
    "      context.log.warn({ err: error, mac, step }, 'nic still in hand');",
    '      throw error;',
  ),
  'RW-08': onHost(
    'families',
    secondJob,
    `${agent}/backends/keyfile.ts`,
    '    companions: [renderLink(nic, 0o644)],',
    '    companions: [],',
  ),
  'RW-09': unit(
    'src/agent/backends/keyfile-claims.test.ts',
    'a profile of somebody else > is about the NIC that it names, whatever words of nmcli are in it',
    `${agent}/backends/ini-text.ts`,
    'const [, key, value] = /^([^=]+?)\\s*=\\s*(.*)$/.exec(line) ?? [];',
    'const [, key, value] = /^(.+?)\\s*[:=]\\s*([^:]*)$/.exec(line) ?? [];',
  ),
  'RW-10': unit(
    'test/property/agent-repeats.test.ts',
    'the same asked for again, in whatever order, has the same names and writes nothing',
    `${agent}/planning/unit.ts`,
    'const changed = there?.text !== text || there.mode !== mode;',
    'const changed = true;',
  ),
  'RW-11': onHost(
    'names',
    'ten changes of a NIC leave its one profile, by one uuid',
    `${agent}/backends/profile.ts`,
    'profileUuid({ mac, name }: DesiredNic,',
    'profileUuid({ mac, mtu: name }: DesiredNic,',
  ),
  'RW-12': onHost(
    'drift',
    'what somebody did to files and NICs by hand is told by a check and put right by an apply: %s',
    `${agent}/planning/attainable.ts`,
    ' || written.includes(path)',
    '',
  ),
  'RW-14': onHost(
    'rollback',
    kernelRefuses,
    `${agent}/result.ts`,
    "failure.name ?? before.link?.name ?? ''",
    "failure.name ?? after.link?.name ?? ''",
  ),
  'RW-15': onHost(
    'primary',
    'the primary NIC > sees no netlink event while NICs are attached, changed and detached',
    `${agent}/apply/kernel.ts`,
    'rest.map(({ operation }) => batchLine(operation)),',
    "['link set dev eth0 txqueuelen 999', ...rest.map(({ operation }) => batchLine(operation))],",
  ),
  'RW-16': unit(
    'src/agent/planning/refusals.test.ts',
    'a NIC that the host leased > is told as that while another link is the way out',
    `${agent}/planning/refusals.ts`,
    '  leased,\n  defaultRoute,',
    '  defaultRoute,',
  ),
  'RW-17': onHost(
    'families',
    secondJob,
    `${agent}/planning/unit.ts`,
    'return { companions: [], commit: commit ?? none, obsolete };',
    'return { companions: [], commit: commit ?? none, obsolete: [] };',
  ),
  'RW-19': unit(
    'src/agent/backends/link-file.test.ts',
    'the file that names a NIC > comes before the one of systemd for all NICs: multinic%i',
    `${agent}/backends/link-file.ts`,
    'index === 9 ? 98 : 90 + index',
    '90 + index',
  ),
  'RW-20': onHost(
    'names',
    'the name of the node > is nothing that the agent goes by: however it is written, what it made stays',
    `${agent}/planning/obsolete.ts`,
    "const all = action === 'cleanup';",
    "const all = action === 'cleanup' || request.nodeName.includes('.');",
  ),
  'RW-21': onHost(
    'detach',
    'detach > a NIC that is unplugged but still asked for keeps its file and its rules',
    `${agent}/planning/obsolete.ts`,
    'const wanted = new Map(interfaces.map((entry) => [entry.mac, entry]));',
    'const wanted = new Map(interfaces.filter(({ mac }) => host.links.some((link) => link.mac === mac)).map((entry) => [entry.mac, entry]));',
  ),
  'RW-22': onHost(
    'detach',
    'detach > a NIC that is gone already leaves the same, and no error',
    `${agent}/planning/plan.ts`,
    "if ('reason' in link) return link.reason === 'WaitingForNIC' ? undefined : link;",
    "if ('reason' in link) return link;",
  ),
  'RW-23': unit(
    'src/agent/planning/indexes.test.ts',
    'indexes > %s',
    `${agent}/planning/candidates.ts`,
    'if (index === undefined || taken.has(index) || assigned.has(mac)) return;',
    'if (index === undefined || assigned.has(mac)) return;',
  ),
  'RW-24': onHost(
    'names',
    'the name of a NIC that is not there > is not given to another one, and one of others that has it is left alone',
    `${agent}/planning/attainable.ts`,
    '  caught,\n  nameTaken,',
    '  caught,',
  ),
  'RW-25': onHost(
    'rollback',
    kernelRefuses,
    `${agent}/configure.ts`,
    'units.map((unit) => unitResult(unit, failures.get(unit)))',
    'units.map((unit) => unitResult(unit, [...failures.values()][0]))',
  ),
  'RW-26': onHost(
    'attach',
    named,
    `${agent}/planning/desired.ts`,
    'name: interfaceName(index),',
    'name: `multinic${entry.mac.at(-1)}`,',
  ),
  'RW-27': unit(
    'test/property/agent-plan.test.ts',
    'plan of the agent > a NIC that is configured and still wanted keeps its name, however it is numbered',
    `${agent}/planning/candidates.ts`,
    'for (const { mac } of entries) assign(mac, records.get(mac)?.index);',
    '',
  ),
  'RW-28': unit(
    'src/agent/backends/netplan.test.ts',
    forBoot,
    `${agent}/backends/netplan-document.ts`,
    '`      set-name: ${nic.name}`,',
    '',
  ),
  'RW-29': onHost(
    'takeover',
    'a host of the deployed agent > is taken over: what it left is migrated, never duplicated, and foreign rules stay',
    `${agent}/planning/unit.ts`,
    '.filter(({ path }) => !paths.has(path))',
    '.filter(() => false)',
  ),
  'RW-30': onHost(
    'takeover',
    'a host of the deployed agent > is left without a trace by a clean-up that names its NICs',
    `${agent}/planning/obsolete.ts`,
    'if (!all || known.has(entry.mac)) return [];',
    'if (known.size >= 0) return [];',
  ),
  'RW-31': unit(
    'src/agent/backends/netplan.test.ts',
    'netplan > renders no route that netplan 0.101 does not know: each has a next hop or the scope of the link',
    `${agent}/backends/netplan-document.ts`,
    '...(scope === rt.scopeLink || !via ?',
    '...(scope === rt.scopeLink ?',
  ),
  'RW-33': onHost(
    'attach',
    'attach > a second run changes nothing and writes nothing but its result',
    `${agent}/planning/unit.ts`,
    'return untouched && inOrder(files)',
    'return untouched && false && inOrder(files)',
  ),
  'RW-34': onHost(
    'same-subnet',
    'another prefix of the same address replaces the one before, and nothing of that is left',
    `${agent}/planning/diff.ts`,
    "return `${cidr} ${broadcast ?? ''} ${noPrefixRoute}`;",
    "return `${cidr.split('/')[0]} ${noPrefixRoute}`;",
  ),
  'RW-35': unit(
    'src/agent/planning/plan-apply.test.ts',
    'the plan > writes a file again that others can read',
    `${agent}/planning/unit.ts`,
    ' || there.mode !== mode;',
    ';',
  ),
  'RW-36': unit(
    'test/property/agent-answer.test.ts',
    'a run of the agent > undoes everything when the node itself lost its way out',
    `${agent}/apply/links.ts`,
    'alarm: (now) => lostByNode(before, now, context.macs),',
    '',
  ),
  'RW-37': onHost(
    'odd-ip',
    'an ip that %s is told with each NIC, and nothing is touched',
    `${agent}/agent.ts`,
    "    return failedWhole(request, { reason: 'ApplyFailed', message: (error as Error).message });",
    '    return { nics: [], warnings: [] };',
  ),
  'RW-38': onHost(
    'same-subnet',
    'a NIC without a carrier is configured, and works as soon as it has one',
    `${agent}/observe/kernel.ts`,
    "up: entry.flags.includes('UP'),",
    "up: entry.flags.includes('LOWER_UP'),",
  ),
  'RW-39': onHost(
    'rollback',
    'rollback > a NIC in use keeps its old address, routes and file when its update fails',
    `${agent}/apply/transaction.ts`,
    "await work.together('ApplyFailed', async () => {",
    "await work.each('PersistFailed', (unit) => commitFiles(unit.files, context)); await work.together('ApplyFailed', async () => {",
  ),
  'RW-40': unit(
    'src/agent/planning/refusals.test.ts',
    'a NIC is refused > %s',
    `${agent}/planning/attainable.ts`,
    'if (maxMtu === undefined || desired.mtu <= maxMtu) return undefined;',
    'if (maxMtu !== 0) return undefined;',
  ),
  'RW-41': onHost(
    'same-subnet',
    'NICs of one subnet > answer each for itself, for traffic and for its address, and the way out stays',
    `${agent}/planning/desired.ts`,
    'from: `${ipOf(cidr)}/${hostPrefix(familyOf(cidr))}`,',
    'from: networkOf(cidr),',
  ),
  'RW-42': unit(
    'src/agent/planning/diff.test.ts',
    'from one state to another > a rule that is there twice is deleted once',
    `${agent}/planning/diff.ts`,
    'if (at >= 0) surplus.splice(at, 1);',
    'if (at >= 0) surplus.splice(0);',
  ),
  'RW-43': onHost(
    'same-subnet',
    'NICs of one subnet > come to the same at once and one after the other',
    `${agent}/planning/attainable.ts`,
    'return new Set(accepted.map(({ link }) => link.name));',
    'return new Set();',
  ),
  'RW-44': onHost(
    'attach',
    'attach > another address replaces the old one, and nothing of the old one is left',
    `${agent}/planning/diff.ts`,
    'delete: [...obsolete.toReversed(), ...local.delete].map(remove),',
    'delete: local.delete.map(remove),',
  ),
  'RW-45': onHost(
    'attach',
    named,
    `${agent}/planning/desired.ts`,
    'protocol: rt.protocolKernel,',
    'protocol: rt.protocolStatic,',
  ),
  'RW-54': unit(
    'src/agent/result.test.ts',
    'the outcome > is %s',
    `${agent}/result.ts`,
    "return good > 0 ? 'partial' : 'failed';",
    "return good > 0 ? 'ok' : 'failed';",
  ),
  'RW-62': onHost(
    'refusals',
    'refusals > a NIC with an address of somebody else, up or down',
    `${agent}/planning/refusals.ts`,
    '[member, lower, foreignAddress, foreignRoute]',
    '[member, lower, foreignRoute]',
  ),
  'RW-67': unit(
    'src/agent/result.test.ts',
    'the termination message > has all of ten failures, each with its message',
    `${agent}/result.ts`,
    'nics: nics.slice(0, 20).map(',
    'nics: nics.slice(0, 9).map(',
  ),
  'RW-69': onHost(
    'mid-apply',
    'the agent is told to stop in the middle of a change: it goes on to its end',
    'src/process/shutdown.ts',
    'for (const name of signals) process.on(name, onSignal);',
    '',
  ),
  'RW-82': unit(
    'src/agent/observe/family.test.ts',
    'a host on which nobody manages a link of the node > says what was found',
    `${agent}/observe/family.ts`,
    "  ['wicked', 'wickedd.service'],\n",
    '',
  ),
  'RW-83': onHost(
    'attach',
    'attach > a request that numbers live NICs anew renames none of them',
    `${agent}/planning/candidates.ts`,
    'for (const { mac } of entries) assign(mac, records.get(mac)?.index);',
    '',
  ),
  'RW-84': onHost(
    'detach',
    'detach > the NIC that stays keeps its name and its traffic',
    `${agent}/planning/candidates.ts`,
    'for (const { mac } of entries) assign(mac, records.get(mac)?.index);',
    'for (const [at, { mac }] of entries.entries()) assign(mac, at);',
  ),
  'RW-88': unit(
    'src/agent/backends/netplan.test.ts',
    forBoot,
    `${agent}/backends/netplan-document.ts`,
    'return [`from: "${from}"`,',
    "return [`from: \"${from.replace('/32', '/24')}\"`,",
  ),
};
