import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { editedLines, withEffect, withoutEffect } from './ifcfg-edit.ts';

const text = 'BOOTPROTO=dhcp\nDEVICE=ens4\nHWADDR=02:00:00:00:01:04\nONBOOT=yes\n';
const edited =
  'BOOTPROTO=dhcp\n#MULTINIC# DEVICE=ens4\nHWADDR=02:00:00:00:01:04\nONBOOT=no #MULTINIC# ONBOOT=yes\n';

describe('the ifcfg file of an adopted NIC', () => {
  test('keeps the MAC, and loses name and activation at boot', () => {
    expect(withoutEffect(text)).toBe(edited);
    expect(editedLines(edited)).toEqual([2, 4]);
  });

  test("keeps a user's changes when the edit ends", () => {
    expect(withEffect(edited.replace('dhcp', 'none'))).toBe(text.replace('dhcp', 'none'));
  });

  test('comes back byte for byte, whatever the text, after any number of edits', () => {
    const line = fc.oneof(
      fc.constantFrom(
        '',
        'ONBOOT=yes',
        ' export ONBOOT="no"',
        "DEVICE='ens4'",
        'DEVICE=a\r',
        '# x',
      ),
      fc.string().filter((each) => !each.includes('#MULTINIC#')),
    );
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const given = lines.join('\n');
        const once = withoutEffect(given);
        expect(withoutEffect(once)).toBe(once);
        expect(withEffect(once)).toBe(given);
        expect(once).toMatch(/^ONBOOT=no/m);
      }),
    );
  });
});
