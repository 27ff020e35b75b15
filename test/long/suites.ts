/** Test suite that is too long for CI. */
export interface Suite {
  readonly name: string;
  readonly proves: string;
  /** Usual duration on two idle cores, in minutes, once `rig/install` has run. */
  readonly minutes: number;
  readonly needsRoot: boolean;
  /** Shell command, run at the root of the tree; `"$@"` are the user's arguments. */
  readonly command: string;
  /** The same suite cut down to about five minutes. */
  readonly sample: string;
}

const install = 'rig/install';
const guest = 'rig/hosts/guest/guest install';
const box = 'rig/hosts/box/box install';
const mariadb = 'rig/mariadb-image/pack install';
const scripts =
  "MULTINIC_TEST_DEPTH=all MULTINIC_TEST_WORKERS=2 test/vitest database system test/system/lifecycle --exclude '**/life.test.ts' --exclude '**/protection/**'";
const krew = 'rig/control-plane/control-plane install krew';
const openstack = `${install}; rig/openstack/openstack up; trap 'rig/openstack/openstack clean' EXIT;`;
const skew = 'MULTINIC_SKEW_REF="${REF:-$(git rev-parse HEAD~100)}" test/vitest version-skew long';
const latency = 'test/vitest latency system test/system/latency "$@"';
const distros = 'test/vitest distros system test/system/distros';

export const suites: readonly Suite[] = [
  {
    name: 'mutants',
    proves: 'unit tests notice defects generated from src (a sample that changes with each commit)',
    minutes: 35,
    needsRoot: false,
    command: 'node test/long/mutants/main.ts "$@"',
    sample: 'node test/long/mutants/main.ts --minutes 4 "$@"',
  },
  {
    name: 'scenario-mutants',
    proves: 'the test of each field scenario notices the defect of that scenario',
    minutes: 15,
    needsRoot: true,
    command: 'node test/long/mutants/main.ts --scenarios "$@"',
    sample: 'node test/long/mutants/main.ts --scenarios --minutes 4 "$@"',
  },
  {
    name: 'removal-mutants',
    proves: 'in 200 random lives no NIC leaves without a basis; they find five defects of the gate',
    minutes: 25,
    needsRoot: false,
    command:
      'node test/property/removals/main.ts 200 1 && node test/property/removals/mutants.ts "$@"',
    sample:
      'node test/property/removals/main.ts 30 $(($(git rev-list --count HEAD) * 200)) && node test/property/removals/mutants.ts total memory',
  },
  {
    name: 'random-plans',
    proves: 'two leaders never overlap; the controller recovers from 7,500 random fault plans',
    minutes: 60,
    needsRoot: false,
    command: 'node test/property/leaders/main.ts && node test/property/plans/main.ts "$@"',
    sample: `first=$(($(git rev-list --count HEAD) * 500)); node test/property/leaders/main.ts 60 3000 20 $first && node test/property/plans/main.ts 500 1 $first`,
  },
  {
    name: 'random-lives',
    proves: 'in 12 random lives no NIC leaves a node without evidence or consent',
    minutes: 15,
    needsRoot: true,
    command: 'MULTINIC_TEST_DEPTH=all test/vitest lives chain test/chain/lives "$@"',
    sample: 'test/vitest lives chain test/chain/lives "$@"',
  },
  {
    name: 'foreign-lives',
    proves:
      'in 40 random lives beside other software no run touches what is not ours, and each result is true',
    minutes: 5,
    needsRoot: true,
    command:
      'MULTINIC_TEST_DEPTH=all test/vitest foreign-lives host test/host/foreign-lives.test.ts "$@"',
    sample: 'test/vitest foreign-lives host test/host/foreign-lives.test.ts "$@"',
  },
  {
    name: 'soak',
    proves:
      '9,000 requests made from the OpenAPI documents; 10,000 syncs leave nothing behind; all rollouts of 1,000 nodes; the demo ends clean in 25 ways',
    minutes: 13,
    needsRoot: true,
    command: `${install} && MULTINIC_TEST_DEPTH=all test/vitest openapi-fuzz system test/system/openapi-fuzz.test.ts && MULTINIC_ROLLOUT_NODES=1000 MULTINIC_TEST_DEPTH=all test/vitest at-rest unit src/operator/at-rest.test.ts src/controller/scheduling/rollout-table.test.ts && MULTINIC_TEST_DEPTH=all test/vitest demo system test/system/demo/endings.test.ts`,
    sample:
      'test/vitest openapi-fuzz system test/system/openapi-fuzz.test.ts && test/vitest at-rest unit src/operator/at-rest.test.ts',
  },
  {
    name: 'disk-faults',
    proves: 'the agent recovers from a failure at each of its calls; 2,000 sets of foreign state',
    minutes: 120,
    needsRoot: true,
    command: `${box} && node test/property/disk-faults/main.ts "$@"`,
    sample: `${box} && node test/property/disk-faults/main.ts "$@"`,
  },
  {
    name: 'power-cut',
    proves: 'QEMU guests boot with whole files after a power cut at each disk write of the agent',
    minutes: 120,
    needsRoot: true,
    command: `${guest} && test/vitest guests system test/system/power-cut && node test/system/power-cut/cuts/main.ts "$@"`,
    sample: `${guest} && node test/system/power-cut/cuts/main.ts 'netplan, first NIC added'`,
  },
  {
    name: 'distros',
    proves: 'Debian 11, 12 and 13 with each network manager reach the same state for 46 intents',
    minutes: 35,
    needsRoot: true,
    command: `${box}; status=0; MULTINIC_BOXES=full ${distros} "$@" || status=$?; node test/system/distros/table.ts; exit $status`,
    sample: `${box}; other=(bullseye trixie); export MULTINIC_BOXES=\${other[$(git rev-list --count HEAD) % 2]}; ${distros} -t 'NICs|changed'`,
  },
  {
    name: 'version-skew',
    proves:
      'each part works beside parts of another commit, and upgrades in each order change no NIC (REF=COMMIT, default: 100 commits ago)',
    minutes: 12,
    needsRoot: true,
    command: `${skew} test/long/version-skew "$@"`,
    sample: `${skew} test/long/version-skew/upgrade.long.ts "$@"`,
  },
  {
    name: 'rbac',
    proves: 'each part needs each of its rights, and recovers when a missing right is granted',
    minutes: 10,
    needsRoot: true,
    command: 'test/vitest rbac long test/long/rbac "$@"',
    sample: 'test/vitest rbac long test/long/rbac -t "viola|writer"',
  },
  {
    name: 'crash',
    proves: 'every part recovers from SIGKILL before and after each of its writes, on stand-ins',
    minutes: 13,
    needsRoot: true,
    command: 'MULTINIC_TEST_WORKERS=6 test/vitest crash chain test/chain/crash "$@"',
    sample: 'MULTINIC_TEST_WORKERS=6 test/vitest crash chain test/chain/crash -t viola',
  },
  {
    name: 'crash-real',
    proves: '23 of the same crashes on real OpenStack, control planes, kubelet and systemd',
    minutes: 10,
    needsRoot: true,
    command: `${install} && test/vitest crash-real long test/long/crash-real "$@"`,
    sample: `${install} && test/vitest crash-real long test/long/crash-real -t 'viola'`,
  },
  {
    name: 'openstack',
    proves: 'the operator on real OpenStack, every case: contract, fields, evidence, outages',
    minutes: 20,
    needsRoot: true,
    command: `${openstack} test/stage openstack openstack-outages`,
    sample: `${openstack} test/vitest openstack system test/system/openstack/faults`,
  },
  {
    name: 'e2e',
    proves: 'both charts on real clusters, every case: chain, trouble, crash, upgrade, uninstall',
    minutes: 25,
    needsRoot: true,
    command: `${install} && test/vitest e2e system test/system/e2e "$@"`,
    sample: `${install} && test/vitest e2e system test/system/e2e/crash.test.ts`,
  },
  {
    name: 'krew',
    proves: 'krew installs the archive of a release without network, and kubectl runs the plugin',
    minutes: 2,
    needsRoot: true,
    command: `${krew} && test/vitest krew long test/long/krew "$@"`,
    sample: `${krew} && test/vitest krew long test/long/krew "$@"`,
  },
  {
    name: 'migrate',
    proves: 'the way from the legacy system and back, with stand-ins of it',
    minutes: 15,
    needsRoot: true,
    command: `${install} && test/vitest migrate long test/long/migrate "$@"`,
    sample: `${install} && test/vitest migrate long test/long/migrate/agent.long.ts`,
  },
  {
    name: 'database',
    proves:
      'real MariaDB: damages and operations in pairs, kills at every step of restores and upgrades, 10.11 and 11.8',
    minutes: 25,
    needsRoot: true,
    command: `${install} && ${scripts} "$@" && test/vitest database-series long test/long/lifecycle`,
    sample: `${mariadb} && test/vitest database system test/system/lifecycle/mariadb-kills.test.ts`,
  },
  {
    name: 'lifecycle',
    proves:
      'MariaDB 10.11 becomes 11.8 after a backup, is refused on the way back, and is restored; five minutes without a write',
    minutes: 15,
    needsRoot: true,
    command: `${install} && test/vitest mariadb long test/long/lifecycle && MULTINIC_TEST_DEPTH=all test/vitest lifecycle system test/system/lifecycle/life.test.ts "$@"`,
    sample: 'test/vitest lifecycle long test/long/lifecycle "$@"',
  },
  {
    name: 'latency',
    proves: 'how long 50 ports of real OpenStack take from notification to MultiNicNodeConfig',
    minutes: 3,
    needsRoot: true,
    command: `${install} && MULTINIC_ATTACHES="\${COUNT:-50}" ${latency}`,
    sample: `${install} && MULTINIC_ATTACHES=10 ${latency}`,
  },
  {
    name: 'bench',
    proves: 'CPU and memory stay within their goals (docs/benchmarks.md)',
    minutes: 15,
    needsRoot: true,
    command: 'node test/bench/main.ts "$@"',
    sample: 'node test/bench/main.ts agent idle',
  },
];
