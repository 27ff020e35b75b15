import * as z from 'zod';
import type { Caller } from '../requests/caller.ts';
import { RequestError } from '../requests/request-error.ts';
import type { TlsOptions } from '../requests/transport.ts';
import { decryptPassword } from './aes-cbc.ts';
import type { Account } from './cloud-identity.ts';
import { contrabassBase, keystonePlace } from './endpoint.ts';
import { answerFailure, jsonOf, parseAs } from './requests/answer-failure.ts';
import { resourcePath } from './requests/service-client.ts';

export interface ProviderRequest {
  /** Base URL of Contrabass. */
  readonly endpoint: string;
  readonly providerId: string;
  readonly encryptKey: string;
  readonly timeoutMs: number;
  readonly tls: TlsOptions;
}

/** Access data for one OpenStack, as Contrabass returns them. */
export interface Provider {
  readonly keystoneUrl: string;
  readonly username: string;
  readonly password: string;
  readonly domainName: string;
  readonly neutronUrl?: string;
  readonly novaUrl?: string;
  readonly rabbit?: Broker;
}

/** Account from Contrabass' answer. */
export function accountOfProvider({ keystoneUrl, username, domainName }: Provider): Account {
  return {
    keystone: keystonePlace(keystoneUrl),
    who: { name: username, domain: { name: domainName } },
  };
}

/** RabbitMQ access for an OpenStack's notifications. */
export interface Broker {
  readonly username: string;
  /** undefined: no password, or undecryptable. Only notifications need RabbitMQ. */
  readonly password?: string;
  /** Each entry has the form `host:port`. */
  readonly hosts: readonly string[];
  /** Why the policy denies this broker; undefined: allowed. */
  readonly denied?: string;
}

const optional = z
  .string()
  .nullish()
  .transform((value) => value?.trim() || undefined);

const answerSchema = z.object({
  data: z.object({
    url: z.string().min(1),
    attributes: z.object({
      adminId: z.string().min(1),
      adminPw: z.string().min(1),
      domain: z.string().min(1),
      neutronUrl: optional,
      novaUrl: optional,
      rabbitMQId: optional,
      rabbitMQPw: optional,
      // Notifications only trigger earlier syncs, so a malformed host list must not block the provider.
      rabbitMQUrls: z
        .union([z.array(z.string()), z.string().transform((text) => text.split(','))])
        .transform((hosts) => hosts.map((host) => host.trim()).filter(Boolean))
        .catch([]),
    }),
  }),
});
type Attributes = z.infer<typeof answerSchema>['data']['attributes'];

/** Reads one OpenStack's access data from Contrabass and decrypts the password. */
export async function fetchProvider(
  request: ProviderRequest,
  { caller, now }: { readonly caller: Caller; readonly now: () => Date },
  signal: AbortSignal,
): Promise<Provider> {
  const path = resourcePath('/v1/contrabass/admin/infra/provider', request.providerId);
  const call = {
    service: 'contrabass',
    method: 'GET',
    url: new URL(contrabassBase(request.endpoint) + path),
    // Large enough for one provider. OpenstackConfig authors may choose the answering host, hence the limit.
    bodyLimitBytes: 1024 * 1024,
  } as const;
  const answer = await caller.call(call, signal);
  if (answer.status !== 200) throw answerFailure(call, answer, now());
  const what = `GET ${path}`;
  const body = jsonOf('contrabass', what, answer);
  refuseOtherCode(body);
  const { data } = parseAs(answerSchema, 'contrabass', what, body);
  const { attributes } = data;
  const rabbit = rabbitOf(attributes, request.encryptKey);
  return {
    keystoneUrl: data.url,
    username: attributes.adminId,
    password: adminPassword(attributes, request),
    domainName: attributes.domain,
    ...(attributes.neutronUrl === undefined ? {} : { neutronUrl: attributes.neutronUrl }),
    ...(attributes.novaUrl === undefined ? {} : { novaUrl: attributes.novaUrl }),
    ...(rabbit === undefined ? {} : { rabbit }),
  };
}

const returned = z.object({ returnCode: z.coerce.string(), returnMessage: optional });

/** Throws for a non-200 returnCode: Contrabass reports errors in the body behind HTTP status 200. */
function refuseOtherCode(body: unknown): void {
  const outcome = returned.safeParse(body).data;
  if (outcome === undefined || outcome.returnCode === '200') return;
  const message = outcome.returnMessage ?? 'without a message';
  throw new RequestError(`returnCode ${outcome.returnCode} (${message})`, {
    service: 'contrabass',
    kind: outcome.returnCode === '404' ? 'notFound' : 'badAnswer',
  });
}

function adminPassword(attributes: Attributes, request: ProviderRequest): string {
  try {
    return decryptPassword(attributes.adminPw, request.encryptKey);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'the password cannot be decrypted';
    throw new RequestError(`adminPw of provider "${request.providerId}": ${reason}`, {
      service: 'contrabass',
      kind: 'badCredential',
      cause: error,
    });
  }
}

function rabbitOf(attributes: Attributes, encryptKey: string): Broker | undefined {
  if (attributes.rabbitMQId === undefined) return undefined;
  const base = { username: attributes.rabbitMQId, hosts: attributes.rabbitMQUrls };
  if (attributes.rabbitMQPw === undefined) return base;
  try {
    return { ...base, password: decryptPassword(attributes.rabbitMQPw, encryptKey) };
  } catch {
    // An undecryptable RabbitMQ password must not stop polling, which needs no notifications.
    return base;
  }
}
