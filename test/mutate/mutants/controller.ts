import type { Mutant } from '../mutant.ts';

const controller = (...files: string[]) =>
  ['unit', ...files.map((name) => `src/controller/${name}.test.ts`)] as const;

export const controllerMutants: readonly Mutant[] = [
  {
    file: 'src/controller/schedule.ts',
    find: 'applied.content === content &&',
    replace: '',
    tests: controller('schedule'),
  },
  {
    file: 'src/controller/applied.ts',
    find: 'if (known?.record === record) return now - known.since;',
    replace: '',
    tests: controller('applied'),
  },
  {
    file: 'src/controller/schedule.ts',
    find: "const begun = run.phase === 'running' || run.phase === 'ending';",
    replace: "const begun = run.phase === 'running';",
    tests: controller('schedule'),
  },
  {
    file: 'src/controller/stores.ts',
    find: 'return now !== undefined && now !== before;',
    replace: 'return now !== before;',
    tests: controller('schedule'),
  },
  {
    file: 'src/controller/applied.ts',
    find: "return outcome === 'ok' ? { done: true, reasons: [] } : { done: false, reasons: ['JobFailed'] };",
    replace: 'return { done: true, reasons: [] };',
    tests: controller('deletion'),
  },
  {
    file: 'src/controller/admission.ts',
    find: "return run.phase !== 'ending' && (node === undefined || isReady(node) !== false);",
    replace: 'return true;',
    tests: controller('unkind-nodes'),
  },
  {
    file: 'src/controller/admission.ts',
    find: 'const limits: Readonly<Record<Lane, number>> = { change: limit, retry: half, cleanup: half };',
    replace:
      'const limits: Readonly<Record<Lane, number>> = { change: limit, retry: limit, cleanup: limit };',
    tests: controller('admission'),
  },
  {
    file: 'src/controller/deletion.ts',
    find: 'return uuid === undefined ? names.has(node.metadata.name) : uuid === instanceId;',
    replace: 'return uuid === instanceId;',
    tests: controller('unkind-nodes'),
  },
  {
    file: 'src/controller/deletion.ts',
    find: 'return !found.some((node) => {',
    replace: 'return found.length === 0 && !found.some((node) => {',
    tests: controller('deletion'),
  },
  {
    file: 'src/controller/deletion.ts',
    find: 'return uuid === undefined ? names.has(node.metadata.name) :',
    replace: 'return names.has(node.metadata.name) ||',
    tests: controller('deletion'),
  },
  {
    file: 'src/controller/deletion.ts',
    find: 'const patch = { metadata: { resourceVersion, finalizers: list } };',
    replace: 'const patch = { metadata: { finalizers: list } };',
    tests: controller('deletion'),
  },
  {
    file: 'src/controller/job-runner.ts',
    find: 'if (owners.some(({ uid }) => uid === job.metadata.uid)) return;',
    replace: 'return;',
    tests: controller('refusals'),
  },
  {
    file: 'src/controller/job-runner.ts',
    find: "const propagationPolicy = run.phase === 'ended' ? 'Background' : 'Foreground';",
    replace: "const propagationPolicy = 'Background' as string as 'Background' | 'Foreground';",
    tests: controller('unkind-nodes'),
  },
  {
    file: 'src/controller/report.ts',
    find: 'if (error instanceof RunRefused) return error.message;',
    replace: '',
    tests: controller('refusals'),
  },
  {
    file: 'src/controller/loop.ts',
    find: 'deadlineSeconds: Math.ceil(values.jobDeadlineMs / 1000),',
    replace: 'deadlineSeconds: values.jobDeadlineMs,',
    tests: controller('unkind-nodes'),
  },
  {
    file: 'src/controller/deletion.ts',
    find: 'released = [...released.filter((one) => at.getTime() - one.getTime() <= windowMs), at];',
    replace: '',
    tests: controller('deletion-guard'),
  },
  {
    file: 'src/controller/stand-back.ts',
    find: 'return running() ?? (toldToTakeOver ? undefined : traces(config));',
    replace: 'return toldToTakeOver ? undefined : (running() ?? traces(config));',
    tests: controller('stand-back'),
  },
  {
    file: 'src/controller/next-run.ts',
    find: 'const superseding = hostFence !== undefined && (await isCurrent(config, signal));',
    replace: 'const superseding = hostFence !== undefined;',
    tests: controller('protocol'),
  },
  {
    file: 'src/controller/loop.ts',
    find: '(reporter.wrote(change) ? [] : keysOfConfig(stores, change))',
    replace: 'keysOfConfig(stores, change)',
    tests: controller('refusals'),
  },
  {
    file: 'src/controller/triggers.ts',
    find: 'return key !== undefined && refOf(key).namespace === namespace ? [key] : [];',
    replace: 'return key !== undefined ? [key] : [];',
    tests: controller('triggers'),
  },
  {
    file: 'src/controller/reconcile.ts',
    find: 'return { requeueAfterMs: progress.done ? 0 : (progress.requeueAfterMs ?? askAgainMs) };',
    replace:
      'return { requeueAfterMs: progress.done ? 0 : (progress.requeueAfterMs ?? 3_600_000) };',
    tests: controller('what-was-done', 'former-node-cleanup'),
  },
  {
    file: 'src/controller/request.ts',
    find: 'own.includes(one) || !ports.has(one.address)',
    replace: '!ports.has(one.address)',
    tests: controller('job'),
  },
  {
    file: 'src/controller/interface-statuses.ts',
    find: 'return [...wanted, ...leavingNics(nics)].slice(0, maxInterfaceStatuses);',
    replace: 'return [...wanted, ...leavingNics(nics)];',
    tests: controller('unkind-nodes'),
  },
  {
    file: 'src/controller/triggers.ts',
    find: 'return ran === runs ? [] : configs.keys();',
    replace: 'return configs.keys();',
    tests: controller('triggers'),
  },
  {
    file: 'src/controller/next-run.ts',
    find: '.filter((run) => run.uid === uid)',
    replace: '',
    tests: controller('what-was-done', 'former-node-cleanup'),
  },
  {
    file: 'src/controller/next-run.ts',
    find: 'if (before?.job !== run.name || before.done !== undefined) {',
    replace: 'if (before?.job !== run.name) {',
    tests: controller('what-was-done', 'former-node-cleanup'),
  },
  {
    file: 'src/controller/job-runner.ts',
    find: "read(options.jobs.byIndex('open', 'yes'))",
    replace: 'read(options.jobs.list())',
    tests: controller('job-runner'),
  },
  {
    file: 'src/controller/job.ts',
    find: "requests: { cpu: '0', memory: '0' },",
    replace: "requests: { cpu: '50m', memory: '0' },",
    tests: controller('job'),
  },
  {
    file: 'src/controller/stand-back.ts',
    find: 'if (clock.monotonicMs() - leftAt >= successorWithinMs) return undefined;',
    replace: 'return undefined;',
    tests: controller('stand-back'),
  },
  {
    file: 'src/controller/deletion.ts',
    find: 'if (run.uid === uid && hasNotBegun(run)) await',
    replace: 'if (run.uid === uid) await',
    tests: controller('unkind-nodes'),
  },
  {
    file: 'src/controller/start.ts',
    find: 'client: aroundWrites(leaseClient,',
    replace: 'client: aroundWrites(client,',
    tests: controller('start'),
  },
  {
    file: 'src/controller/stores.ts',
    find: '    packed: true,\n',
    replace: '',
    tests: controller('stores'),
  },
  {
    file: 'src/controller/schedule.ts',
    find: 'applied.job) - (seen ? 0 : recordAgeMs);',
    replace: 'applied.job) - recordAgeMs;',
    tests: controller('schedule'),
  },
  {
    file: 'src/controller/schedule.ts',
    find: 'failure: run.trouble ?? notStarted(run, recordAgeMs)',
    replace: 'failure: notStarted(run, recordAgeMs)',
    tests: controller('schedule'),
  },
  {
    file: 'src/controller/stores.ts',
    find: 'if (nodeReady !== undefined || lastInterfaceCheck !== undefined) return true;',
    replace: '',
    tests: controller('stand-back'),
  },
  {
    file: 'src/controller/request.ts',
    find: 'return spec.nodeName?.trim()',
    replace: 'return spec',
    tests: controller('request'),
  },
  {
    file: 'src/controller/deletion.ts',
    find: 'if (machineId && now) return machineId === now;',
    replace: '',
    tests: controller('former-node'),
  },
  {
    file: 'src/controller/deletion.ts',
    find: 'return uuid === undefined || uuid === instanceIdOf(config) || uuid === (now && systemUuidOf(now));',
    replace: 'return uuid === instanceIdOf(config);',
    tests: controller('former-node'),
  },
  {
    file: 'src/controller/deletion.ts',
    find: 'const all = stores.configs.size + earlier;',
    replace: 'const all = stores.configs.size;',
    tests: controller('deletion-guard'),
  },
];
