import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { filled } from '../../api/texts/text.ts';
import type { Change } from '../data/live-feed.ts';
import { apiPath } from '../data/paths.ts';
import { useScreen } from '../data/screen-reader.ts';
import { Conditions } from '../parts/conditions.tsx';
import { Facts, Section } from '../parts/facts.tsx';
import { Findings } from '../parts/findings.tsx';
import { NodePicture } from '../parts/node-picture.tsx';
import { pictureSign } from '../parts/picture-layout.ts';
import { Screen } from '../parts/screen.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Age, Name, NameLink, Names, Sign, Words } from '../parts/texts.tsx';
import { hrefToConfig, hrefToNic } from '../place/links.ts';
import { hrefTo } from '../place/location.ts';
import { say } from '../words/language.ts';
import { pageTexts } from '../words/page-texts.ts';
import { screenTexts } from '../words/screen-texts.ts';
import type { ScreenProps } from './screen-props.ts';

type NodeAnswer = ScreenAnswer<'node'>;
type Nic = NodeAnswer['nics'][number];

/** Pauses between reads for an open node or NIC (ms). */
export const openNode = { pauseMs: 1_000, pollMs: 5_000 } as const;

/** Returns whether a change is about a node. */
export function concernsNode(cluster: string, node: string): (change: Change) => boolean {
  return (change) => change?.kind === 'node' && change.key.startsWith(`${cluster}/${node}/`);
}

/** One node: picture, NICs and ports, conditions. */
export function NodeScreen({ fields: { cluster = '', node = '' } }: ScreenProps) {
  const path = apiPath(['nodes', cluster, node]);
  const options = { ...openNode, concerns: concernsNode(cluster, node) };
  const reader = useScreen('node', path, options);
  const title = (
    <>
      {say(pageTexts.node)} <Name value={node} />{' '}
      <span class="quiet">
        <NameLink value={cluster} href={hrefTo('nodes', { cluster })} />
      </span>
    </>
  );
  return (
    <Screen title={title} reader={reader}>
      {(answer) => <NodeContent answer={answer} />}
    </Screen>
  );
}

export function NodeContent({ answer }: { readonly answer: NodeAnswer }) {
  const { node, nics, conditions, findings } = answer;
  return (
    <>
      <Notes answer={answer} />
      <NodeFacts answer={answer} />
      <NodePicture answer={answer} />
      <Section title={say(screenTexts.nicsOf)}>
        <Table
          label={say(screenTexts.nicsOf)}
          columns={columnsFor(answer)}
          rows={nics}
          keyOf={({ key }) => key}
          empty={screenTexts.noNics}
        />
      </Section>
      {findings.length > 0 && (
        <Section title={say(screenTexts.findings)}>
          <Findings groups={findings} />
        </Section>
      )}
      <Section title={say(screenTexts.conditions)}>
        <Conditions conditions={conditions} />
        {conditions.length === 0 && node.message !== '' && (
          <p>
            <Name value={node.message} />
          </p>
        )}
      </Section>
    </>
  );
}

function Notes({ answer: { isFresh, isPortsRead } }: { readonly answer: NodeAnswer }) {
  return (
    <>
      {!isFresh && <p class="notice">△ {say(screenTexts.notFresh)}</p>}
      {!isPortsRead && <p class="notice">△ {say(screenTexts.portsUnread)}</p>}
    </>
  );
}

function NodeFacts({ answer: { node, kubernetesNode, job } }: { readonly answer: NodeAnswer }) {
  const isDrifted = node.drifted && node.state === 'Configured';
  const ips = kubernetesNode?.internalIps.map(({ ip }) => ip) ?? [];
  return (
    <Facts
      facts={[
        [screenTexts.state, <Sign key="state" of={isDrifted ? 'Drifted' : node.state} />],
        [screenTexts.reason, node.reason],
        [screenTexts.since, <Age key="since" at={node.since} />],
        [
          screenTexts.config,
          <NameLink key="config" value={node.config} href={hrefToConfig(node.config)} />,
        ],
        [screenTexts.backend, node.backend],
        [screenTexts.agent, node.agentVersion],
        [screenTexts.lastCheck, <Age key="check" at={node.checkedAt} absent={pageTexts.never} />],
        [screenTexts.internalIp, ips.length > 0 && <Names values={ips} />],
        [screenTexts.instance, <Name key="id" value={node.instanceId} />],
        [screenTexts.lastJob, job && <JobText job={job} />],
      ]}
    />
  );
}

function JobText({ job }: { readonly job: NonNullable<NodeAnswer['job']> }) {
  const { name, attempt, reason, message } = job;
  return (
    <>
      <Name value={name} />
      {attempt !== undefined && ` (${say(filled(screenTexts.attempt, { attempt }))})`}
      {reason && (
        <>
          {' '}
          <Name value={reason} />
        </>
      )}
      {message && (
        <>
          : <Name value={message} />
        </>
      )}
    </>
  );
}

function columnsFor({ node, networks }: NodeAnswer): readonly Column<Nic>[] {
  const networkName = (wanted: string | undefined) =>
    networks.find(({ key }) => key === wanted)?.name;
  return [
    {
      title: screenTexts.nics,
      cell: (nic) => <NameLink value={nic.nic ?? nic.key} href={hrefOfRow(nic, node)} />,
    },
    { title: screenTexts.state, cell: (nic) => <Sign of={pictureSign(nic)} /> },
    { title: screenTexts.reason, cell: ({ reason }) => <Name value={reason} /> },
    { title: screenTexts.addresses, cell: ({ addresses }) => <Names values={addresses} /> },
    { title: screenTexts.network, cell: ({ network }) => <Name value={networkName(network)} /> },
    { title: screenTexts.mac, cell: ({ macAddress }) => <Name value={macAddress} /> },
    { title: screenTexts.portStatus, cell: (nic) => <PortStatus nic={nic} /> },
    {
      title: screenTexts.checked,
      cell: ({ checkedAt }) => <Age at={checkedAt} absent={pageTexts.never} />,
    },
    { title: screenTexts.message, cell: ({ text }) => <Words text={text} /> },
  ];
}

/** A DOWN or disabled port carries no packets. */
function PortStatus({ nic: { portStatus, adminStateUp } }: { readonly nic: Nic }) {
  if (portStatus === 'DOWN' || adminStateUp === false) return <Sign of="Down" />;
  return <Name value={portStatus} />;
}

function hrefOfRow({ nic, portId }: Nic, node: NodeAnswer['node']): string | undefined {
  if (nic !== undefined) return hrefToNic(node.providerId, node.nodeName, nic);
  return portId === undefined ? undefined : hrefTo('port', { port: portId });
}
