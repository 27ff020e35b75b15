// The floor of a poll that finds nothing: sends the operator's requests by undici and reads the bodies, in a process with the
// operator's flags and environment. Reads the requests as JSON from the first line of its input; each further line is a round.
// Prints the CPU milliseconds of each round.
import { createInterface } from 'node:readline';
import { Pool } from 'undici';
import { continueHeader } from '../../src/api/node-configs-http.ts';

/** The requests of one poll. */
export interface PollRequests {
  readonly cloud: { readonly origin: string; readonly lists: readonly Request[] };
  readonly viola: { readonly origin: string; readonly list: Request };
}

interface Request {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** As in src/openstack/port-lists.ts. */
const listsAtOnce = 4;
/** Tag of each page of Viola's list. */
const tags = new Map<number, string>();

async function read(pool: Pool, { path, headers }: Request) {
  const answer = await pool.request({ method: 'GET', path, headers });
  await answer.body.text();
  return answer.headers;
}

function textOf(header: string | string[] | undefined): string {
  return typeof header === 'string' ? header : '';
}

async function readPages(pool: Pool, { path, headers }: Request): Promise<void> {
  let next: string | undefined = '';
  for (let page = 0; next !== undefined; page++) {
    const tag = tags.get(page);
    const token = next === '' ? '' : `&continue=${next}`;
    const condition = tag === undefined ? {} : { 'if-none-match': tag };
    const answer = await read(pool, { path: path + token, headers: { ...headers, ...condition } });
    tags.set(page, textOf(answer['etag']));
    next = textOf(answer[continueHeader]) || undefined;
  }
}

async function round({ cloud, viola }: PollRequests, pools: readonly [Pool, Pool]): Promise<void> {
  const queue = cloud.lists.values();
  const worker = async (): Promise<void> => {
    for (const request of queue) await read(pools[0], request);
  };
  await Promise.all([
    ...Array.from({ length: listsAtOnce }, worker),
    readPages(pools[1], viola.list),
  ]);
}

const lines = createInterface(process.stdin)[Symbol.asyncIterator]();
const first = await lines.next();
const requests = JSON.parse(String(first.value)) as PollRequests;
const pools = [new Pool(requests.cloud.origin), new Pool(requests.viola.origin)] as const;
for await (const _ of lines) {
  const cpu = process.cpuUsage();
  await round(requests, pools);
  const { user, system } = process.cpuUsage(cpu);
  console.log(JSON.stringify({ cpuMs: (user + system) / 1000 }));
}
await Promise.all(pools.map(async (pool) => pool.close()));
