import type { ScreenAnswer } from '../../api/dashboard/screens.ts';

type Answer = Pick<ScreenAnswer<'node'>, 'networks' | 'nics' | 'kubernetesNode'> & {
  readonly node: Pick<ScreenAnswer<'node'>['node'], 'nodeName'>;
};
type Nic = ScreenAnswer<'node'>['nics'][number];

/** A row in a box. */
export interface Pictured {
  readonly key: string;
  /** Baseline of the text (px). */
  readonly y: number;
  readonly label: string;
  readonly detail: string;
  /** Name of the sign; undefined: none. */
  readonly sign: string | undefined;
}

export interface Box {
  readonly title: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly rows: readonly Pictured[];
}

interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Line {
  readonly key: string;
  readonly from: Point;
  readonly to: Point;
  /** True: nothing flows, because the port is not a NIC, failed or is DOWN. */
  readonly isBroken: boolean;
}

export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly Box[];
  readonly lines: readonly Line[];
}

/** Most rows in a box; a node has at most ten NICs and its own port. */
const mostRows = 11;
const rowHeight = 24;
const head = 44;
const gap = 90;
const widths = { network: 210, node: 340, kubernetes: 220 };

/** Returns boxes and lines: networks on the left, the node's NICs in the middle, the Kubernetes Node on the right. */
export function pictureOf(
  { networks, nics, node, kubernetesNode }: Answer,
  titles: { readonly openstack: string; readonly kubernetes: string },
): Picture {
  const nicX = widths.network + gap;
  const nodeX = nicX + widths.node + gap;
  const networkBox = boxOf(titles.openstack, 0, widths.network, networks.map(networkRow));
  const nicBox = boxOf(node.nodeName, nicX, widths.node, nics.map(nicRow));
  const nodeBox = boxOf(titles.kubernetes, nodeX, widths.kubernetes, nodeRows(kubernetesNode));
  const boxes = [networkBox, nicBox, nodeBox];
  const left = nics.flatMap((nic) =>
    lineBetween([networkBox, nic.network], [nicBox, nic.key], isBroken(nic)),
  );
  const right = (kubernetesNode?.internalIps ?? []).flatMap(({ ip, key }) =>
    lineBetween([nicBox, key], [nodeBox, ip], false),
  );
  const height = Math.max(...boxes.map((box) => box.height)) + 2;
  return { width: nodeX + widths.kubernetes + 2, height, boxes, lines: [...left, ...right] };
}

type RowText = Omit<Pictured, 'y'>;

function rowOf(key: string, label: string, sign: string | undefined, detail = ''): RowText {
  return { key, label, detail, sign };
}

function networkRow({ key, name, isDown }: Answer['networks'][number]): RowText {
  return rowOf(key, name, isDown ? 'Down' : undefined);
}

function nicRow(nic: Nic): RowText {
  const { key, nic: name, addresses, reason } = nic;
  const state = pictureSign(nic);
  const detail = state === 'Failed' || state === 'Unused' ? reason : (addresses[0] ?? '');
  return rowOf(
    key,
    name ?? addresses[0] ?? key,
    state,
    name === undefined && !reason ? '' : detail,
  );
}

/** Returns the sign of a NIC or port. */
export function pictureSign({ kind, state, isDrifted }: Nic): string {
  if (kind === 'primary') return 'Primary';
  if (kind === 'other') return 'Other';
  return isDrifted && state === 'Configured' ? 'Drifted' : state;
}

function isBroken({ kind, state, portStatus }: Nic): boolean {
  return kind === 'unusedPort' || state === 'Failed' || portStatus === 'DOWN';
}

function nodeRows(node: Answer['kubernetesNode']): readonly RowText[] {
  if (node === undefined) return [];
  const name = rowOf('', node.name, node.isReady ? 'Ready' : 'NotReady');
  return [name, ...node.internalIps.map(({ ip }) => rowOf(ip, ip, undefined))];
}

function boxOf(title: string, x: number, width: number, texts: readonly RowText[]): Box {
  const shown = texts.slice(0, mostRows);
  const rows = shown.map((text, at) => ({ ...text, y: head + at * rowHeight + 2 }));
  return { title, x: x + 1, y: 1, width, height: head + rows.length * rowHeight, rows };
}

/** Returns the line between two rows; none if a row is missing. */
function lineBetween(
  [left, leftKey]: readonly [Box, string | undefined],
  [right, rightKey]: readonly [Box, string | undefined],
  broken: boolean,
): readonly Line[] {
  const from = left.rows.find(({ key }) => key === leftKey);
  const to = right.rows.find(({ key }) => key === rightKey);
  if (from === undefined || to === undefined) return [];
  return [
    {
      key: `${from.key} ${to.key}`,
      from: { x: left.x + left.width, y: from.y - 4 },
      to: { x: right.x, y: to.y - 4 },
      isBroken: broken,
    },
  ];
}
