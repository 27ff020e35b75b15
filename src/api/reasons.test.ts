import { describe, expect, it } from 'vitest';
import { nicReason, refusalReason } from './job.ts';
import { violaCodes } from './message-codes.ts';
import { nicCodes } from './nic-codes.ts';
import { accessReasons } from './reasons/access.ts';
import { deliveryReasons } from './reasons/delivery.ts';
import { explainReasons } from './reasons/explain.ts';
import { multiNicBizConfigReasons } from './reasons/multinicbizconfig.ts';
import { multiNicOperatorReasons } from './reasons/multinicoperator.ts';
import { nicReasons } from './reasons/nic.ts';
import { nodeReasons } from './reasons/node.ts';
import { openstackConfigReasons } from './reasons/openstackconfig.ts';
import { partReasons } from './reasons/part.ts';
import { preflightReasons } from './reasons/preflight.ts';
import { protectionReasons } from './reasons/protection.ts';
import type { ReasonRow } from './reasons/reason-row.ts';
import { reasons, reasonsOf, rowOf } from './reasons.ts';
import { holdCodes } from './removals.ts';

const rows = Object.values<ReasonRow>(reasons);

describe('reasons table', () => {
  it.each(Object.entries(reasons))(
    'reason %s has meaning and action in both languages',
    (name, row) => {
      expect(name).toMatch(/^[A-Z][A-Za-z]+$/);
      for (const wording of [row.meaning, row.action]) {
        expect(wording.en).toMatch(/^[A-Z].*[.)]$/s);
        expect(wording.ko).toMatch(/[가-힣]/);
      }
    },
  );

  it('the reasons table has one row for each reason', () => {
    const tables = [
      nicReasons,
      nodeReasons,
      openstackConfigReasons,
      multiNicBizConfigReasons,
      multiNicOperatorReasons,
      accessReasons,
      deliveryReasons,
      partReasons,
      protectionReasons,
      explainReasons,
      preflightReasons,
    ];
    const names = tables.flatMap((table) => Object.keys(table));
    expect(names.toSorted()).toEqual(Object.keys(reasons).toSorted());
  });

  it('the reasons table contains every reason that an agent may report', () => {
    const known = Object.keys(reasons);
    expect(known).toEqual(expect.arrayContaining([...nicReason.options, ...refusalReason.options]));
  });

  it('each code belongs to a reason', () => {
    const codes = new Set(rows.flatMap(({ codes: own = [] }) => own));
    expect([...codes].toSorted()).toEqual([...nicCodes, ...holdCodes, ...violaCodes].toSorted());
  });

  it('each code in a message has a row with an action', () => {
    expect([...holdCodes, ...violaCodes].map((code) => rowOf(code)?.action.en)).not.toContain(
      undefined,
    );
  });

  it('texts for next steps are in English and Korean', () => {
    const texts = rows.flatMap(({ nextStep = [] }) => nextStep.flatMap(({ text }) => text ?? []));
    expect(texts.length).toBeGreaterThan(0);
    for (const { en, ko } of texts) {
      expect(en).toMatch(/^[a-z]/);
      expect(ko).toMatch(/[가-힣]/);
    }
  });

  it("reasonsOf returns an alert's reasons in alphabetical order", () => {
    expect(reasonsOf('MultiNicDeliveryFailing')).toEqual(['ViolaPostError', 'Waiting']);
  });

  it('rowOf returns undefined for prototype names', () => {
    expect(rowOf('toString')).toBeUndefined();
  });
});
