import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { filled } from '../../api/texts/text.ts';
import { apiPath } from '../data/paths.ts';
import { useScreen } from '../data/screen-reader.ts';
import { FilterText } from '../parts/filter-text.tsx';
import { Pager } from '../parts/pager.tsx';
import { Screen } from '../parts/screen.tsx';
import { type Column, LongTable } from '../parts/table.tsx';
import { Age, Name, NameLink, Names, Sign } from '../parts/texts.tsx';
import { hrefToConfig, hrefToNode } from '../place/links.ts';
import { changed, type Fields } from '../place/place.ts';
import { number } from '../words/format.ts';
import { say } from '../words/language.ts';
import { pageTexts } from '../words/page-texts.ts';
import { screenTexts } from '../words/screen-texts.ts';
import { Facets } from './facets.tsx';
import type { ScreenProps } from './screen-props.ts';

type Nodes = ScreenAnswer<'nodes'>;
type NodeRow = Nodes['items'][number];

/** Nodes with filters; pages come from the server. */
export function NodesScreen({ fields }: ScreenProps) {
  const reader = useScreen('nodes', apiPath(['nodes'], fields));
  return (
    <Screen title={say(pageTexts.nodes)} reader={reader}>
      {(answer) => <NodesContent answer={answer} fields={fields} />}
    </Screen>
  );
}

export function NodesContent({
  answer,
  fields,
}: {
  readonly answer: Nodes;
  readonly fields: Fields;
}) {
  const { items, total, all, facets } = answer;
  return (
    <div class="list">
      <Facets facets={facets} fields={fields} />
      <div>
        <FilterText
          view="nodes"
          fields={fields}
          name="text"
          label={say(screenTexts.filterText)}
          button={say(screenTexts.apply)}
        />
        <p role="status">
          {say(filled(screenTexts.matching, { total: number(total), all: number(all) }))}
        </p>
        <LongTable
          label={say(pageTexts.nodes)}
          columns={columns}
          rows={items}
          keyOf={({ providerId, nodeName, config }) => `${providerId}/${nodeName}/${config}`}
          empty={all === 0 ? screenTexts.noNodes : screenTexts.noMatch}
        />
        <Pager
          view="nodes"
          fields={changed(fields, {})}
          isFirst={fields['continue'] === undefined}
          next={answer.continue}
        />
      </div>
    </div>
  );
}

/** Returns a node's sign. */
function signName({ state, drifted }: NodeRow): string {
  return drifted && state === 'Configured' ? 'Drifted' : state;
}

const columns: readonly Column<NodeRow>[] = [
  {
    title: screenTexts.node,
    cell: ({ providerId, nodeName }) => (
      <NameLink value={nodeName} href={hrefToNode(providerId, nodeName)} />
    ),
  },
  { title: screenTexts.cluster, cell: ({ providerId }) => <Name value={providerId} /> },
  { title: screenTexts.state, cell: (row) => <Sign of={signName(row)} /> },
  {
    title: screenTexts.nics,
    cell: ({ nics }) => `${number(nics.configured)}/${number(nics.all)}`,
    isNumber: true,
  },
  { title: screenTexts.reason, cell: ({ reason }) => <Name value={reason} /> },
  { title: screenTexts.since, cell: ({ since }) => <Age at={since} /> },
  {
    title: screenTexts.unusedPorts,
    cell: ({ unusedPorts }) => number(unusedPorts),
    isNumber: true,
  },
  { title: screenTexts.networks, cell: ({ networks }) => <Names values={networks} /> },
  { title: screenTexts.backend, cell: ({ backend }) => <Name value={backend} /> },
  { title: screenTexts.agent, cell: ({ agentVersion }) => <Name value={agentVersion} /> },
  {
    title: screenTexts.lastCheck,
    cell: ({ checkedAt }) => <Age at={checkedAt} absent={pageTexts.never} />,
  },
  {
    title: screenTexts.config,
    cell: ({ config }) => <NameLink value={config} href={hrefToConfig(config)} />,
  },
];
