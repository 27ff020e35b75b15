import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { apiPath } from '../data/paths.ts';
import { useScreen } from '../data/screen-reader.ts';
import { CloudState } from '../parts/cloud-state.tsx';
import { Conditions } from '../parts/conditions.tsx';
import { Facts, Section } from '../parts/facts.tsx';
import { Removals } from '../parts/removals.tsx';
import { Screen } from '../parts/screen.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Age, Name, NameLink, Names, Sign, Words } from '../parts/texts.tsx';
import { hrefToNode } from '../place/links.ts';
import { hrefTo } from '../place/location.ts';
import { number } from '../words/format.ts';
import { say } from '../words/language.ts';
import { pageTexts } from '../words/page-texts.ts';
import { screenTexts } from '../words/screen-texts.ts';
import { ConfigPlan } from './config-plan.tsx';
import type { ScreenProps } from './screen-props.ts';

type ConfigAnswer = ScreenAnswer<'config'>;

/** One OpenstackConfig. */
export function ConfigScreen({ fields: { namespace = '', name = '' } }: ScreenProps) {
  const reader = useScreen('config', apiPath(['configs', namespace, name]));
  const title = (
    <>
      {say(pageTexts.config)} <Name value={`${namespace}/${name}`} />
    </>
  );
  return (
    <Screen title={title} reader={reader}>
      {(answer) => <ConfigContent answer={answer} />}
    </Screen>
  );
}

export function ConfigContent({ answer }: { readonly answer: ConfigAnswer }) {
  const { config, plan, attention, unusedPorts } = answer;
  const key = `${config.namespace}/${config.name}`;
  return (
    <>
      <p class="answer">
        <Words text={config.text} />
      </p>
      <ConfigFacts answer={answer} />
      <p>
        <a href={hrefTo('nodes', { config: key })}>{say(pageTexts.nodes)}</a>
      </p>
      <Section title={say(screenTexts.conditions)}>
        <Conditions conditions={config.conditions} />
      </Section>
      {attention.length > 0 && (
        <Section title={say(screenTexts.attention)}>
          <Table
            label={say(screenTexts.attention)}
            columns={attentionColumns(config.providerId)}
            rows={attention}
            keyOf={({ nodeName }) => nodeName}
            empty={screenTexts.noNodes}
          />
        </Section>
      )}
      {unusedPorts.length > 0 && (
        <Section title={say(screenTexts.unusedPorts)}>
          <Table
            label={say(screenTexts.unusedPorts)}
            columns={portColumns}
            rows={unusedPorts}
            keyOf={({ portId }) => portId}
            empty={screenTexts.noNics}
          />
        </Section>
      )}
      {plan && <ConfigPlan plan={plan} />}
    </>
  );
}

function ConfigFacts({
  answer: { config, cloud, subnets, servers },
}: {
  readonly answer: ConfigAnswer;
}) {
  const metadata = Object.entries(servers.metadata).map(([key, value]) => `${key}=${value}`);
  return (
    <Facts
      facts={[
        [screenTexts.state, <Sign key="state" of={readySign(config)} />],
        [screenTexts.nics, config.nics],
        [screenTexts.cluster, config.providerId],
        [screenTexts.mode, config.mode],
        [screenTexts.deletionPolicy, config.deletionPolicy],
        [screenTexts.trigger, config.trigger],
        [screenTexts.lastSync, <Age key="last" at={config.lastSyncAt} absent={pageTexts.never} />],
        [screenTexts.lastAttempt, config.lastAttemptAt && <Age at={config.lastAttemptAt} />],
        [screenTexts.nextSync, config.nextSyncAt && <Age at={config.nextSyncAt} />],
        [screenTexts.removals, <Removals key="removals" removals={config.removals} />],
        [
          screenTexts.cloud,
          <>
            <Name value={cloud.name} /> <CloudState cloud={cloud} />
          </>,
        ],
        [screenTexts.subnets, <Names key="subnets" values={subnets} />],
        [
          screenTexts.servers,
          <>
            {number(servers.count)}: <Names values={servers.names} />
          </>,
        ],
        [screenTexts.metadata, metadata.length > 0 && <Names values={metadata} />],
        [screenTexts.tags, servers.tags.length > 0 && <Names values={servers.tags} />],
      ]}
    />
  );
}

function readySign({ paused, ready }: ConfigAnswer['config']): string {
  if (paused !== undefined) return 'paused';
  if (ready === 'Unknown') return 'Unknown';
  return ready === 'True' ? 'Ready' : 'NotReady';
}

function attentionColumns(
  cluster: string | undefined,
): readonly Column<ConfigAnswer['attention'][number]>[] {
  return [
    {
      title: screenTexts.node,
      cell: ({ nodeName }) => (
        <NameLink
          value={nodeName}
          href={cluster === undefined ? undefined : hrefToNode(cluster, nodeName)}
        />
      ),
    },
    { title: screenTexts.state, cell: ({ state }) => <Sign of={state} /> },
    { title: screenTexts.reason, cell: ({ reason }) => <Name value={reason} /> },
    { title: screenTexts.message, cell: ({ text }) => <Words text={text} /> },
  ];
}

const portColumns: readonly Column<ConfigAnswer['unusedPorts'][number]>[] = [
  {
    title: screenTexts.port,
    cell: ({ portId }) => <NameLink value={portId} href={hrefTo('port', { port: portId })} />,
  },
  { title: screenTexts.address, cell: ({ address }) => <Name value={address} /> },
  { title: screenTexts.reason, cell: ({ reason }) => <Name value={reason} /> },
  { title: screenTexts.message, cell: ({ text }) => <Words text={text} /> },
];
