import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import * as z from 'zod';
import type { Certificates, ClusterAccess } from './access.ts';
import { AccessError } from './access-error.ts';
import {
  clusterSchema,
  type KubeconfigCluster,
  type KubeconfigUser,
  kubeconfigSchema,
  userSchema,
} from './kubeconfig-schema.ts';

export interface KubeconfigOptions {
  /** Default: `current-context`. */
  readonly context?: string;
}

/**
 * Reads a kubeconfig, given as path or text. Text may not name files: a kubeconfig from a Secret could otherwise read
 * local files with our rights. Token files are read before every request.
 */
export async function loadKubeconfig(
  source: string,
  { context }: KubeconfigOptions = {},
): Promise<ClusterAccess> {
  if (source.includes('\n') || source.trimStart().startsWith('{')) {
    return accessOf(parseKubeconfig(source, 'kubeconfig', context), refuseFile);
  }
  const text = await textOf(source);
  const folder = dirname(source);
  const chosen = parseKubeconfig(text, `kubeconfig ${source}`, context);
  return accessOf(chosen, (path) => resolve(folder, path));
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'does not exist' : `cannot be read: ${message}`;
    const next = 'give the path of a kubeconfig with --kubeconfig, or in the variable KUBECONFIG';
    throw new AccessError(`the kubeconfig ${path} ${why}`, next, { cause });
  }
}

type Locate = (path: string) => string;

function refuseFile(path: string): never {
  throw new Error(
    `kubeconfig names the file ${path}: a kubeconfig in a Secret or variable must contain the data itself`,
  );
}

/** A context with its cluster and user. */
interface Chosen {
  readonly namespace: string | undefined;
  readonly cluster: KubeconfigCluster;
  readonly userName: string;
  readonly user: KubeconfigUser;
}

/** Errors contain the position, never the text, because the text holds credentials. */
function parseKubeconfig(text: string, called: string, chosen: string | undefined): Chosen {
  const document = parseDocument(text, { prettyErrors: false });
  const [flaw] = document.errors;
  if (flaw) throw new Error(`${called} is not YAML: ${flaw.code} at character ${flaw.pos[0]}`);
  const config = checked(kubeconfigSchema, document.toJS(), called);
  const { context } = named(config.contexts, 'context', chosen ?? config['current-context']);
  const { cluster } = named(config.clusters, 'cluster', context.cluster);
  const { user } = named(config.users, 'user', context.user);
  return {
    namespace: context.namespace,
    cluster: checked(clusterSchema, cluster, `${called}, cluster ${context.cluster},`),
    userName: context.user,
    user: checked(userSchema, user ?? {}, `${called}, user ${context.user},`),
  };
}

function checked<T>(schema: z.ZodType<T>, value: unknown, called: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new Error(`${called} cannot be used: ${z.prettifyError(result.error)}`);
}

async function accessOf(
  { namespace, cluster, userName, user }: Chosen,
  locate: Locate,
): Promise<ClusterAccess> {
  const certificates = () => certificatesOf(cluster, user, locate);
  const current = await certificates();
  if ((current.clientCert === undefined) !== (current.clientKey === undefined)) {
    throw new Error(
      `kubeconfig user ${userName}: client-certificate and client-key belong together: set both, or neither`,
    );
  }
  const token = tokenOf(user, locate);
  return {
    server: cluster.server,
    ...current,
    ...(namesFiles(cluster, user) ? { certificates } : {}),
    ...(token ? { token } : {}),
    ...(namespace === undefined ? {} : { namespace }),
    ...(cluster['tls-server-name'] === undefined
      ? {}
      : { tlsServerName: cluster['tls-server-name'] }),
  };
}

function named<Item extends { readonly name: string }>(
  items: readonly Item[],
  what: string,
  name: string | undefined,
): Item {
  if (name === undefined)
    throw new Error(`kubeconfig has no current-context: set it, or name a ${what}`);
  const item = items.find((candidate) => candidate.name === name);
  if (item) return item;
  const known = items.map((candidate) => candidate.name).join(', ') || 'none';
  throw new Error(`kubeconfig has no ${what} ${name} (existing: ${known})`);
}

async function certificatesOf(
  cluster: KubeconfigCluster,
  user: KubeconfigUser,
  locate: Locate,
): Promise<Certificates> {
  const [ca, clientCert, clientKey] = await Promise.all([
    pem(cluster['certificate-authority-data'], cluster['certificate-authority'], locate),
    pem(user['client-certificate-data'], user['client-certificate'], locate),
    pem(user['client-key-data'], user['client-key'], locate),
  ]);
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(clientCert === undefined ? {} : { clientCert }),
    ...(clientKey === undefined ? {} : { clientKey }),
  };
}

function namesFiles(cluster: KubeconfigCluster, user: KubeconfigUser): boolean {
  const files = [cluster['certificate-authority'], user['client-certificate'], user['client-key']];
  return files.some((path) => path !== undefined);
}

async function pem(
  data: string | undefined,
  path: string | undefined,
  locate: Locate,
): Promise<string | undefined> {
  // Inline data win over files, as in kubectl.
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
  return path === undefined ? undefined : credential(locate(path));
}

function tokenOf(
  { token, tokenFile }: KubeconfigUser,
  locate: Locate,
): (() => Promise<string>) | undefined {
  if (tokenFile !== undefined) return fileToken(locate(tokenFile));
  return token === undefined ? undefined : () => Promise.resolve(token);
}

/**
 * Returns a function that reads the token file at each call: kubelet and credential helpers rotate the file in place.
 */
export function fileToken(path: string): () => Promise<string> {
  return async () => (await credential(path)).trim();
}

/**
 * Reads a credential file; throws if empty, as during an in-place rotation. An empty CA would mean all Node.js CAs,
 * and an empty token an anonymous request.
 */
export async function credential(path: string): Promise<string> {
  const text = await readFile(path, 'utf8');
  if (text.trim() === '') throw new Error(`${path} is empty`);
  return text;
}
