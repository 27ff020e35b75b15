import { address, boolean, nonBlank } from '../../process/setting-schemas.ts';
import { type Settings, setting, type Values } from '../../process/settings.ts';

/** Settings of the trigger endpoint, which runs inside the operator. */
export const triggerSettings = {
  triggerListen: setting({
    env: ['TRIGGER_ADDR'],
    flag: 'trigger-listen',
    schema: address().prefault(':18082'),
    description:
      'address of the trigger endpoint, default :18082; it listens only with --trigger-tokens-file or --trigger-hmac-key-file',
  }),
  triggerTokensFile: setting({
    env: ['TRIGGER_TOKENS_FILE'],
    flag: 'trigger-tokens-file',
    schema: nonBlank().optional(),
    description:
      'YAML list of {name, sha256, providers, verbs}: who may call the trigger endpoint, with providers ["*"] and the verb write; 30 s after it is gone or broken nobody may',
  }),
  triggerHmacKeyFile: setting({
    env: ['TRIGGER_HMAC_KEY_FILE'],
    flag: 'trigger-hmac-key-file',
    schema: nonBlank().optional(),
    description:
      'file with a key on each line, of 16 characters or more, that calls of the trigger endpoint are signed with; read at each use',
  }),
  triggerTlsCert: setting({
    env: ['TRIGGER_TLS_CERT'],
    flag: 'trigger-tls-cert',
    schema: nonBlank().optional(),
    description: 'PEM file of the certificate of the trigger endpoint; read again every minute',
  }),
  triggerTlsKey: setting({
    env: ['TRIGGER_TLS_KEY'],
    flag: 'trigger-tls-key',
    schema: nonBlank().optional(),
    description: 'PEM file of its key',
  }),
  triggerPlainHttp: setting({
    env: ['TRIGGER_PLAIN_HTTP'],
    flag: 'trigger-plain-http',
    schema: boolean().prefault('false'),
    description:
      'serve triggers without TLS on an address that is not loopback; something else has to guard it',
  }),
} satisfies Settings;

export type TriggerSettings = Values<typeof triggerSettings>;

/** Whether the trigger endpoint has callers; without any it does not listen. */
export function mayBeCalled({ triggerTokensFile, triggerHmacKeyFile }: TriggerSettings): boolean {
  return triggerTokensFile !== undefined || triggerHmacKeyFile !== undefined;
}
