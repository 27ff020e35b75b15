import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { filled } from '../../api/texts/text.ts';
import { apiPath } from '../data/paths.ts';
import { useScreen } from '../data/screen-reader.ts';
import { Facts, Section } from '../parts/facts.tsx';
import { countsText, Findings } from '../parts/findings.tsx';
import { Parts } from '../parts/parts-table.tsx';
import { Screen } from '../parts/screen.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Age, Name, NameLink, Sign, Words } from '../parts/texts.tsx';
import { hrefTo } from '../place/location.ts';
import { number } from '../words/format.ts';
import { say } from '../words/language.ts';
import { pageTexts } from '../words/page-texts.ts';
import { screenTexts } from '../words/screen-texts.ts';

type Fleet = ScreenAnswer<'fleet'>;
type Cluster = Fleet['clusters'][number];

/** The server examines at most every 10 s. */
export const examinePauseMs = 10_000;

/** Findings by cause, business clusters, health of the parts. */
export function FleetScreen() {
  const reader = useScreen('fleet', apiPath(['fleet']), { pauseMs: examinePauseMs });
  return (
    <Screen title={say(pageTexts.fleet)} reader={reader}>
      {(fleet) => <FleetContent fleet={fleet} />}
    </Screen>
  );
}

export function FleetContent({ fleet }: { readonly fleet: Fleet }) {
  const { counts, findings, clusters, clusterCount, configs, empty, unread } = fleet;
  return (
    <>
      {empty && (
        <p class="notice">
          <Words text={empty} />
        </p>
      )}
      <Section title={say(screenTexts.findings)}>
        <p>{countsText(counts)}</p>
        {findings.length === 0 && (
          <p>{say(unread.length === 0 ? screenTexts.nothingWrong : screenTexts.nothingKnown)}</p>
        )}
        <Findings groups={findings} />
      </Section>
      <Section title={say(screenTexts.clusters)}>
        <Table
          label={say(screenTexts.clusters)}
          columns={clusterColumns}
          rows={clusters}
          keyOf={({ providerId }) => providerId}
          empty={screenTexts.noClusters}
        />
        {clusterCount > clusters.length && (
          <p>{say(filled(pageTexts.more, { count: number(clusterCount - clusters.length) }))}</p>
        )}
      </Section>
      <Section title={say(screenTexts.parts)}>
        <p>
          <a href={hrefTo('configs')}>{say(filled(screenTexts.configsReady, configs))}</a>
        </p>
        <Facts facts={[[screenTexts.lastSync, <Age key="at" at={fleet.lastSyncAt} />]]} />
        <Parts parts={fleet.parts} />
      </Section>
      <Section title={say(screenTexts.connections)}>
        <Table
          label={say(screenTexts.connections)}
          columns={connectionColumns}
          rows={fleet.connections}
          keyOf={({ source, providerId = '' }) => `${source} ${providerId}`}
          empty={screenTexts.noConnections}
        />
      </Section>
    </>
  );
}

const shownStates = ['Configured', 'InProgress', 'Pending', 'Failed', 'Observed'] as const;

const clusterColumns: readonly Column<Cluster>[] = [
  {
    title: screenTexts.cluster,
    cell: ({ providerId }) => (
      <NameLink value={providerId} href={hrefTo('nodes', { cluster: providerId })} />
    ),
  },
  { title: pageTexts.nodes, cell: ({ nodes }) => number(nodes), isNumber: true },
  { title: screenTexts.nics, cell: (cluster) => <NicCounts cluster={cluster} /> },
  {
    title: screenTexts.drifted,
    cell: ({ drifted }) => (drifted === 0 ? '0' : <Sign of="warn">: {number(drifted)}</Sign>),
    isNumber: true,
  },
  { title: screenTexts.viaViola, cell: (cluster) => <Reach cluster={cluster} /> },
  {
    title: screenTexts.controller,
    cell: ({ controller }) =>
      controller ? <Sign of={controller.result} /> : say(pageTexts.unknown),
  },
  {
    title: screenTexts.oldestCheck,
    cell: ({ oldestCheck }) => <Age at={oldestCheck} absent={pageTexts.never} />,
  },
];

/** Each number has a sign and a word. */
function NicCounts({ cluster: { nics } }: { readonly cluster: Cluster }) {
  const given = shownStates.filter((state) => nics[state] > 0);
  if (given.length === 0) return <>0</>;
  return (
    <ul class="inline">
      {given.map((state) => (
        <li key={state}>
          <Sign of={state}>: {number(nics[state])}</Sign>
        </li>
      ))}
    </ul>
  );
}

function Reach({ cluster: { reachable, message } }: { readonly cluster: Cluster }) {
  if (reachable === undefined) return <Sign of="unknown" />;
  return (
    <Sign of={reachable ? 'ok' : 'fail'}>
      {message !== '' && (
        <>
          : <Name value={message} />
        </>
      )}
    </Sign>
  );
}

const connectionColumns: readonly Column<Fleet['connections'][number]>[] = [
  {
    title: screenTexts.source,
    cell: ({ source, providerId }) => <Name value={`${source} ${providerId ?? ''}`.trim()} />,
  },
  { title: screenTexts.state, cell: ({ phase }) => <Sign of={phase} /> },
  { title: screenTexts.since, cell: ({ since }) => <Age at={since} absent={pageTexts.never} /> },
  { title: screenTexts.placeOfSource, cell: ({ place }) => <Name value={place} /> },
  {
    title: screenTexts.details,
    cell: ({ why, next }) => (
      <>
        {why && <Words text={why} />} {next && <Words text={next} />}
      </>
    ),
  },
];
