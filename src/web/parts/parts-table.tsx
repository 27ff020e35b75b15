import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { say } from '../words/language.ts';
import { pageTexts } from '../words/page-texts.ts';
import { screenTexts } from '../words/screen-texts.ts';
import { type Column, Table } from './table.tsx';
import { Name, Sign, Words } from './texts.tsx';

type Part = ScreenAnswer<'operator'>['parts'][number];

const columns: readonly Column<Part>[] = [
  {
    title: screenTexts.part,
    cell: ({ part, providerId }) => <Name value={`${part} ${providerId ?? ''}`.trim()} />,
  },
  { title: screenTexts.state, cell: ({ result }) => <Sign of={result} /> },
  {
    title: screenTexts.replicas,
    cell: ({ readyReplicas, replicas }) => `${readyReplicas}/${replicas}`,
    isNumber: true,
  },
  {
    title: screenTexts.leader,
    cell: ({ leader }) => <Name value={leader} />,
  },
  {
    title: screenTexts.version,
    cell: ({ version }) =>
      version === undefined ? say(pageTexts.unknown) : <Name value={version} />,
  },
  { title: screenTexts.details, cell: ({ problem }) => problem && <Words text={problem} /> },
];

/** Parts of MultiNIC with their health. */
export function Parts({ parts }: { readonly parts: readonly Part[] }) {
  return (
    <Table
      label={say(screenTexts.parts)}
      columns={columns}
      rows={parts}
      keyOf={({ part, providerId = '', namespace = '' }) => `${part} ${providerId} ${namespace}`}
      empty={screenTexts.noParts}
    />
  );
}
