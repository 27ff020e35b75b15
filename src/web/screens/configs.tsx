import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { filled } from '../../api/texts/text.ts';
import { apiPath } from '../data/paths.ts';
import { useScreen } from '../data/screen-reader.ts';
import { CloudState } from '../parts/cloud-state.tsx';
import { Section } from '../parts/facts.tsx';
import { Removals } from '../parts/removals.tsx';
import { Screen } from '../parts/screen.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Age, Name, NameLink, Names, Sign, Words } from '../parts/texts.tsx';
import { hrefToConfig } from '../place/links.ts';
import { number } from '../words/format.ts';
import { say } from '../words/language.ts';
import { pageTexts } from '../words/page-texts.ts';
import { screenTexts } from '../words/screen-texts.ts';

type Configs = ScreenAnswer<'configs'>;
type ConfigRow = Configs['configs'][number];

/** OpenstackConfigs and their clouds. */
export function ConfigsScreen() {
  const reader = useScreen('configs', apiPath(['configs']));
  return (
    <Screen title={say(pageTexts.configs)} reader={reader}>
      {(answer) => <ConfigsContent answer={answer} />}
    </Screen>
  );
}

export function ConfigsContent({ answer }: { readonly answer: Configs }) {
  const { configs, count, clouds } = answer;
  return (
    <>
      <Section title={say(pageTexts.config)}>
        <Table
          label={say(pageTexts.config)}
          columns={configColumns}
          rows={configs}
          keyOf={({ namespace, name }) => `${namespace}/${name}`}
          empty={screenTexts.noConfigs}
        />
        {count > configs.length && (
          <p>{say(filled(pageTexts.more, { count: number(count - configs.length) }))}</p>
        )}
      </Section>
      <Section title={say(screenTexts.clouds)}>
        <Table
          label={say(screenTexts.clouds)}
          columns={cloudColumns}
          rows={clouds}
          keyOf={({ key }) => key}
          empty={screenTexts.noClouds}
        />
      </Section>
    </>
  );
}

const configColumns: readonly Column<ConfigRow>[] = [
  {
    title: pageTexts.config,
    cell: ({ namespace, name }) => (
      <NameLink value={`${namespace}/${name}`} href={hrefToConfig(`${namespace}/${name}`)} />
    ),
  },
  { title: screenTexts.state, cell: (row) => <ConfigState row={row} /> },
  { title: screenTexts.reason, cell: ({ reason }) => <Name value={reason} /> },
  { title: screenTexts.nics, cell: ({ nics }) => <Name value={nics} />, isNumber: true },
  { title: screenTexts.cluster, cell: ({ providerId }) => <Name value={providerId} /> },
  { title: screenTexts.trigger, cell: ({ trigger }) => <Name value={trigger} /> },
  {
    title: screenTexts.lastSync,
    cell: ({ lastSyncAt }) => <Age at={lastSyncAt} absent={pageTexts.never} />,
  },
  { title: screenTexts.nextSync, cell: ({ nextSyncAt }) => <Age at={nextSyncAt} /> },
  { title: screenTexts.removals, cell: ({ removals }) => <Removals removals={removals} /> },
  { title: screenTexts.message, cell: ({ text }) => <Words text={text} /> },
];

function ConfigState({ row: { ready, paused, isDeleting } }: { readonly row: ConfigRow }) {
  if (paused !== undefined) return <Sign of="paused" />;
  return (
    <Sign of={ready === 'Unknown' ? 'Unknown' : readySign(ready)}>
      {isDeleting && <span class="quiet"> ({say(screenTexts.deleting)})</span>}
    </Sign>
  );
}

function readySign(ready: 'True' | 'False'): string {
  return ready === 'True' ? 'Ready' : 'NotReady';
}

const cloudColumns: readonly Column<Configs['clouds'][number]>[] = [
  { title: screenTexts.cloud, cell: ({ name }) => <Name value={name} /> },
  { title: screenTexts.state, cell: (cloud) => <CloudState cloud={cloud} /> },
  { title: screenTexts.access, cell: ({ access }) => <Name value={access} /> },
  { title: screenTexts.project, cell: ({ project }) => <Name value={project} /> },
  { title: pageTexts.config, cell: ({ configs }) => <Names values={configs} /> },
];
