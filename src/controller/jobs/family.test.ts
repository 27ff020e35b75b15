import { describe, expect, it } from 'vitest';
import { agentTask, jobResult, nicResult } from '../../../test/fixtures/controller-samples.ts';
import type { Family, JobResult } from '../../api/job.ts';
import { type Applied, begun, ended, familyFor, triedBefore } from './applied.ts';
import { guessFamily, isNews, otherFamilyIn } from './family.ts';
import type { RunOutcome } from './runner.ts';

const now = new Date('2026-01-01T00:00:00Z');
const { machine } = agentTask();

/** Returns the result of an agent that detected network manager `family`. */
function foundOther(family: Family, change: Partial<JobResult> = {}): RunOutcome {
  const nics = [nicResult(0, { state: 'Failed', reason: 'WrongFamily' })];
  return { kind: 'result', result: jobResult({ outcome: 'failed', nics, family, ...change }) };
}

describe('guessFamily', () => {
  it.each([
    ['Ubuntu 22.04.3 LTS', 'netplan'],
    ['Debian GNU/Linux 12 (bookworm)', 'netplan'],
    ['Red Hat Enterprise Linux 9.4 (Plow)', 'keyfile'],
    ['Red Hat Enterprise Linux CoreOS 416.94', 'keyfile'],
    ['CentOS Stream 9', 'keyfile'],
    ['Rocky Linux 8.9 (Green Obsidian)', 'keyfile'],
    ['AlmaLinux 9.3 (Shamrock Pampas Cat)', 'keyfile'],
    ['Oracle Linux Server 8.9', 'keyfile'],
    ['Fedora Linux 39 (Cloud Edition)', 'keyfile'],
    ['Amazon Linux 2023', 'netplan'],
    [undefined, 'netplan'],
  ] as const)('guessFamily maps %s to %s', (osImage, family) => {
    expect(guessFamily({ osImage })).toBe(family);
  });
});

describe('another network manager', () => {
  it('otherFamilyIn returns the detected network manager when the agent changed nothing', () => {
    expect(otherFamilyIn(foundOther('keyfile'), 'netplan')).toBe('keyfile');
    expect(otherFamilyIn(foundOther('keyfile', { nics: [] }), 'netplan')).toBe('keyfile');
    expect(otherFamilyIn(foundOther('keyfile'), undefined)).toBe('keyfile');
    const tooOld = nicResult(1, { state: 'Failed', reason: 'AgentTooOld' });
    const wrong = nicResult(0, { state: 'Failed', reason: 'WrongFamily' });
    expect(otherFamilyIn(foundOther('keyfile', { nics: [wrong, tooOld] }), 'netplan')).toBe(
      'keyfile',
    );
  });

  it.each([
    ['the same', foundOther('netplan')],
    ['named by an agent that worked', foundOther('keyfile', { nics: [nicResult(0)] })],
    ['named in a success', foundOther('keyfile', { outcome: 'ok', nics: [] })],
    ['lost with the result', { kind: 'failure', reason: 'ResultLost', message: '' } as const],
  ])('otherFamilyIn returns undefined for a network manager that is %s', (_, verdict) => {
    expect(otherFamilyIn(verdict, 'netplan')).toBeUndefined();
  });

  it('isNews is true once per detected network manager', () => {
    expect(isNews('keyfile', { family: 'netplan' })).toBe(true);
    expect(isNews('keyfile', {})).toBe(true);
    expect(isNews('keyfile', { family: 'keyfile' })).toBe(false);
    expect(isNews('netplan', { family: 'keyfile', triedFamilies: ['netplan'] })).toBe(false);
    expect(isNews(undefined, { family: 'netplan' })).toBe(false);
  });
});

describe("the record's network manager", () => {
  const terms = { protocol: 2 } as const;
  const first = begun(agentTask(), 'job-1', terms, now);
  const moved = ended(first, foundOther('keyfile'), now);

  it("familyFor uses the record's detected network manager, otherwise the guess", () => {
    expect(familyFor(machine, undefined)).toBe('netplan');
    expect(familyFor({ ...machine, osImage: 'Rocky Linux 9.3' }, undefined)).toBe('keyfile');
    expect(first).toMatchObject({ family: 'netplan' });
    expect(familyFor({ ...machine, osImage: 'Rocky Linux 9.3' }, first)).toBe('netplan');
    expect(familyFor(machine, moved)).toBe('keyfile');
  });

  it.each([
    ['Node', { ...machine, nodeUid: 'uid-2' }],
    ['system', { ...machine, machineId: 'machine-2' }],
  ])('familyFor and triedBefore ignore a record when the machine has another %s', (_, rebuilt) => {
    expect(familyFor(rebuilt, moved)).toBe('netplan');
    expect(familyFor({ ...rebuilt, osImage: 'Fedora Linux 39' }, first)).toBe('keyfile');
    expect(triedBefore(rebuilt, moved)).toEqual([]);
  });

  it('triedFamilies accumulates failed network managers until a run succeeds', () => {
    const again = (before: Applied, family: Family): Applied => {
      const sent = agentTask({ family });
      return begun(sent, 'job', { ...terms, triedFamilies: triedBefore(machine, before) }, now);
    };
    const second = ended(again(moved, 'keyfile'), foundOther('ifcfg'), now);
    expect(second).toMatchObject({ triedFamilies: ['netplan'], foundFamily: 'ifcfg' });
    const third = ended(again(second, 'ifcfg'), foundOther('netplan'), now);
    expect(third.triedFamilies).toEqual(['netplan', 'keyfile']);
    expect(isNews(third.foundFamily, third)).toBe(false);
    const right = ended(again(third, 'netplan'), { kind: 'result', result: jobResult() }, now);
    expect(right).not.toHaveProperty('foundFamily');
    expect(triedBefore(machine, right)).toEqual([]);
  });

  it('a record from an earlier version names no network manager and counts none as tried', () => {
    const { family: _, ...old } = first;
    expect(familyFor(machine, old)).toBe('netplan');
    expect(triedBefore(machine, ended(old, foundOther('keyfile'), now))).toEqual([]);
  });
});
