import type { Mutant } from '../mutant.ts';

const unit = (...names: readonly string[]) =>
  ['unit', ...names.map((name) => `src/controller/${name}.test.ts`)] as const;
const drift = { file: 'src/controller/drift.ts', tests: unit('drift') };
const check = { file: 'src/controller/check.ts', tests: unit('check') };
const kept = { file: 'src/controller/kept-status.ts', tests: unit('kept-status') };
const told = { file: 'src/controller/status.ts', tests: unit('told-again') };
const nics = {
  file: 'src/controller/interface-statuses.ts',
  tests: unit('told-again', 'interface-statuses'),
};
const next = { file: 'src/controller/next-run.ts', tests: unit('check-older-kind') };
const report = {
  file: 'src/controller/report.ts',
  tests: unit('report', 'check-older-kind'),
};
const agent = {
  file: 'src/agent/check.ts',
  tests: ['namespaces', 'test/namespaces/check.test.ts'],
} as const;

/** Whether a node still has what was applied to it: when it is looked at, by whom, and what follows. */
export const driftMutants: readonly Mutant[] = [
  { ...drift, find: 'now.bootId !== applied.bootId', replace: 'false' },
  { ...drift, find: 'if (now.bootId !== undefined &&', replace: 'if (' },
  { ...drift, find: 'now.checkAsked !== applied.checkAsked', replace: 'false' },
  { ...drift, find: 'then !== now.readySince', replace: 'false' },
  { ...drift, find: 'if (then !== undefined &&', replace: 'if (' },
  { ...drift, find: 'now.readySince !== undefined &&', replace: '' },
  { ...drift, find: 'if (now.checkAsked !== undefined &&', replace: 'if (' },
  { ...drift, find: "? 'interval' : undefined", replace: '? undefined : undefined' },
  { ...drift, find: '(0.8 + 0.4 * fractionOf(job))', replace: '(1 + 0 * fractionOf(job))' },
  { ...drift, find: 'since: lookOf(applied).at, ', replace: '' },
  { ...drift, find: ', ...seenIn(occasion) });', replace: ' });' },
  { ...drift, find: '?.slice(0, 64)', replace: '' },
  { ...drift, find: "outcome === 'ok' || nics.some", replace: 'nics.some' },
  { ...drift, find: '!unseen.has(reason)', replace: 'true' },
  { ...check, find: "booted: due === 'boot', desired", replace: 'booted: false, desired' },
  { ...check, find: "differs && policy === 'heal'", replace: 'differs' },
  { ...check, find: "(policy === 'heal' && unreadable", replace: '(unreadable' },
  { ...check, find: 'if (isForApply(failure)) {', replace: 'if (false) {' },
  { ...check, find: "reason === 'StaleRequest' || ", replace: '' },
  { ...check, find: 'if (!applied.done) return { requeueAfterMs: 0 };', replace: '' },
  { ...check, find: '(before?.failures ?? 0) + 1', replace: '1' },
  { ...check, find: 'if (left <= 0) return undefined;', replace: 'return undefined;' },
  { ...check, find: 'if (message === undefined) throw error;', replace: 'throw error;' },
  { ...check, find: 'if (lastInVain.get(one.key)?.job !== last.name) note(', replace: 'note(' },
  { ...check, find: 'begin(one.key, sent.name);', replace: '' },
  { ...check, find: "if (!due && policy === 'heal' &&", replace: 'if (false &&' },
  { ...check, find: "!due && policy === 'heal' &&", replace: '!due &&' },
  { ...kept, find: 'isSameJson({ ...written, ...kept }, written)', replace: 'true' },
  { ...kept, find: 'this.#written.delete(key);\n      return config;', replace: 'return config;' },
  { ...kept, find: '.filter((field) => !this.#lost.has(field))', replace: '' },
  { ...kept, find: ' || written.uid !== config.metadata.uid', replace: '' },
  { ...kept, find: 'written.kept === hashOf(config.status) ? status', replace: 'true ? status' },
  { ...kept, find: ' ? record : kept;', replace: ' ? record : record;' },
  { ...kept, find: '.every((field) => this.#lost.has(field))', replace: '.every(() => true)' },
  { ...kept, find: '&& written.length === kept.length', replace: '' },
  {
    ...next,
    find: 'repeat || isRefusedFor(report.config, recordNotKept)',
    replace: 'repeat',
  },
  { ...kept, find: 'kept !== undefined && ', replace: '' },
  {
    ...check,
    find: "told.length > 0 ? told.join('; ') : warnings.join('; ')",
    replace: "told.join('; ')",
    tests: unit('check-left-nics'),
  },
  { ...report, find: 'let current = statuses.whole(config);', replace: 'let current = config;' },
  { ...report, find: 'statuses.note(kept, next);', replace: 'kept;' },
  { ...nics, find: "told?.status === 'Configured' && ", replace: 'told !== undefined && ' },
  {
    ...told,
    find: 'const usable = entries.filter(({ rejection }) => rejection === undefined);',
    replace: 'const usable = entries;',
  },
  { ...told, find: 'return isTold && isReadyTold(', replace: 'return isReadyTold(' },
  {
    ...told,
    find: 'situation: isReadyTold(config.status, situation, spec) ? input.situation : situation,',
    replace: 'situation,',
  },
  { ...told, find: 'again: true,', replace: '' },
  { ...nics, find: '?? same[0];', replace: ';' },
  {
    ...nics,
    find: 'same.find(({ interfaceIndex }) => interfaceIndex === position) ?? ',
    replace: '',
  },
  { ...nics, find: 'macAddress !== undefined && !wanted', replace: '!wanted' },
  {
    ...nics,
    find: '{ ...sameWish, ...defined({ interfaceIndex: nic.interfaceIndex }) }',
    replace: 'sameWish',
  },
  { ...drift, find: '.toWellFormed()', replace: '' },
  {
    file: 'src/controller/family.ts',
    find: "['WrongFamily', 'AgentTooOld']",
    replace: "['WrongFamily']",
    tests: unit('family', 'other-family'),
  },
  {
    file: 'src/controller/triggers.ts',
    find: ', readySince(node)]',
    replace: ']',
    tests: unit('triggers'),
  },
  {
    ...check,
    find: "if (booted) task.report.tell({ kind: 'working', run: shown, repeat: false });",
    replace: "task.report.tell({ kind: 'working', run: shown, repeat: false });",
  },
  { ...check, find: 'await runner.remove(run, signal);', replace: '' },
  {
    file: 'src/controller/status.ts',
    find: 'const record = applied ?? appliedIn(config.status);',
    replace: 'const record = appliedIn(config.status);',
    tests: unit('check'),
  },
  {
    file: 'src/controller/admission.ts',
    find: 'check: quarter,',
    replace: 'check: limit,',
    tests: unit('check'),
  },
  {
    file: 'src/controller/schedule.ts',
    find: 'return isCheck(other) ? makeWay(other) :',
    replace: 'return isCheck(other) ? next :',
    tests: unit('schedule', 'check'),
  },
  {
    file: 'src/controller/schedule.ts',
    find: "cleanup' || applied.done === true ||",
    replace: "cleanup' ||",
    tests: unit('schedule', 'check'),
  },
  {
    file: 'src/controller/conditions.ts',
    find: 'if (isHealed) return [asApplied];',
    replace: '',
    tests: unit('check'),
  },
  {
    file: 'src/controller/report.ts',
    find: "if (now?.status !== 'True' || before?.status === 'True') return;",
    replace: 'if (now) return;',
    tests: unit('check'),
  },
  { ...agent, find: 'isDone(unit) ? undefined :', replace: '' },
  { ...agent, find: '[...rest, ...writes]', replace: '[...writes, ...rest]' },
  { ...agent, find: ', ...inDoubt]', replace: ']' },
  { ...agent, find: ', inHand });', replace: ' });' },
  { ...agent, find: '[plan.removal, plan.apply]', replace: '[plan.apply]' },
];
