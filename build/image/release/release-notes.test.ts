import { expect, it } from 'vitest';
import { releaseNotes } from './release-notes.ts';

const changelog = (...headings: readonly string[]): string =>
  ['# Changelog\n\nOne version for all parts.\n']
    .concat(headings.map((heading) => `## ${heading}\n\n- Change of ${heading}.\n`))
    .join('\n');

it.each([
  [['Unreleased', '1.2.3', '1.2.2'], '1.2.3'],
  [['Unreleased', '[1.2.3] - 2026-11-27', '1.2.2'], '[1.2.3] - 2026-11-27'],
  [['Unreleased', '1.2.30'], 'Unreleased'],
])(
  'from the sections %j the notes for 1.2.3 are the own section, else Unreleased: %s',
  (headings, taken) => {
    const notes = releaseNotes(changelog(...headings), '1.2.3');
    expect(notes).toMatch(/^# MultiNIC 1\.2\.3\n/);
    expect(notes.match(/^- .*$/gm)).toEqual([`- Change of ${taken}.`]);
  },
);

it('the error names the missing section', () => {
  expect(() => releaseNotes(changelog('1.2.2'), '1.2.3')).toThrow('no section "## 1.2.3"');
});
