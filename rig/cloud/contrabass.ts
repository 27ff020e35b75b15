import { encryptPassword } from './encrypt-password.ts';
import type { Route } from './route.ts';

/** One OpenStack as Contrabass knows it. */
export interface KnownProvider {
  readonly id: string;
  /** Keystone's root, without its version. */
  readonly keystoneUrl: string;
  readonly username: string;
  readonly password: string;
  readonly domainName: string;
  /** Its message queue, if Contrabass knows it. */
  readonly rabbit?: KnownRabbit | undefined;
}

export interface KnownRabbit {
  readonly username: string;
  readonly password: string;
  /** `host:port` each. */
  readonly hosts: readonly string[];
}

/** Contrabass: which OpenStack hides behind a provider id, its password encrypted under the key. */
export function contrabassRoutes(
  provider: (origin: string) => KnownProvider,
  encryptKey: string,
): Route[] {
  return [
    {
      service: 'contrabass',
      method: 'GET',
      path: '/v1/contrabass/admin/infra/provider/{id}',
      handle: ({ params, origin }) => {
        const known = provider(origin);
        if (params['id'] !== known.id) {
          return { status: 404, body: { returnCode: '404', returnMessage: 'PROVIDER_NOT_FOUND' } };
        }
        return {
          status: 200,
          body: {
            returnCode: '200',
            returnMessage: 'COMMON_OK',
            data: {
              uuid: known.id,
              name: known.id,
              url: known.keystoneUrl,
              attributes: {
                adminId: known.username,
                adminPw: encryptPassword(known.password, encryptKey),
                domain: known.domainName,
                ...(known.rabbit && attributesOf(known.rabbit, encryptKey)),
              },
            },
          },
        };
      },
    },
  ];
}

function attributesOf({ username, password, hosts }: KnownRabbit, encryptKey: string) {
  return {
    rabbitMQId: username,
    rabbitMQPw: encryptPassword(password, encryptKey),
    rabbitMQUrls: hosts,
  };
}
