import { type ApiAccess, apiAccess, apiSettings } from '../../../http/api-settings.ts';
import { address, boolean, nonBlank } from '../../../process/setting-schemas.ts';
import { replacedSetting, type Settings, setting, type Values } from '../../../process/settings.ts';

/** Settings of the trigger endpoint, which runs inside the operator. */
export const triggerSettings = {
  triggerListen: setting({
    env: ['TRIGGER_ADDR'],
    flag: 'trigger-listen',
    schema: address().prefault(':18082'),
    description:
      'Address of the trigger endpoint. The operator listens there only with --api-tokens-file or --trigger-hmac-key-file. An address that is not loopback needs --api-tls-cert or --api-plain-http; otherwise the operator exits.',
  }),
  triggerHmacKeyFile: setting({
    env: ['TRIGGER_HMAC_KEY_FILE'],
    flag: 'trigger-hmac-key-file',
    schema: nonBlank().optional(),
    description:
      'File with one HMAC key per line, at least 16 characters each, for signed calls of the trigger endpoint. The operator reads it at each call. A short key at the start ends the operator; later signed calls get 503.',
  }),
  ...apiSettings,
  triggerTokensFile: replacedSetting(
    'trigger-tokens-file',
    ['TRIGGER_TOKENS_FILE'],
    nonBlank().optional(),
    'api-tokens-file',
  ),
  triggerTlsCert: replacedSetting(
    'trigger-tls-cert',
    ['TRIGGER_TLS_CERT'],
    nonBlank().optional(),
    'api-tls-cert',
  ),
  triggerTlsKey: replacedSetting(
    'trigger-tls-key',
    ['TRIGGER_TLS_KEY'],
    nonBlank().optional(),
    'api-tls-key',
  ),
  triggerPlainHttp: replacedSetting(
    'trigger-plain-http',
    ['TRIGGER_PLAIN_HTTP'],
    boolean().optional(),
    'api-plain-http',
  ),
} satisfies Settings;

export type TriggerSettings = Values<typeof triggerSettings>;

/** Returns callers and certificate of the trigger endpoint. */
export function triggerAccess(settings: TriggerSettings): ApiAccess {
  return apiAccess(settings, {
    name: 'trigger',
    listen: settings.triggerListen,
    tokensFile: settings.triggerTokensFile,
    tlsCert: settings.triggerTlsCert,
    tlsKey: settings.triggerTlsKey,
    plainHttp: settings.triggerPlainHttp,
  });
}

/** Whether the trigger endpoint has callers; without any it does not listen. */
export function mayBeCalled(settings: TriggerSettings): boolean {
  const { tokensFile } = triggerAccess(settings);
  return tokensFile !== undefined || settings.triggerHmacKeyFile !== undefined;
}
