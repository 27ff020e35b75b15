import { apiSettings } from '../http/api-settings.ts';
import { address, boolean, nonBlank } from '../process/setting-schemas.ts';
import { replacedSetting, type Settings, setting, type Values } from '../process/settings.ts';

/** Inventory settings; the inventory runs inside the operator. */
export const inventorySettings = {
  inventoryEnabled: setting({
    env: ['INVENTORY_ENABLED'],
    flag: 'inventory-enabled',
    schema: boolean().prefault('true'),
    description:
      'true: serve the inventory over HTTP. false closes the address; records are still written.',
  }),
  inventoryListen: setting({
    env: ['INVENTORY_ADDR'],
    flag: 'inventory-listen',
    schema: address().prefault('127.0.0.1:18081'),
    description:
      'Address of the inventory; loopback is enough for kubectl port-forward. Any other address needs --api-tls-cert or --api-plain-http, and callers need a token of --api-tokens-file; otherwise the operator exits, or answers 401.',
  }),
  ...apiSettings,
  inventoryTokensFile: replacedSetting(
    'inventory-tokens-file',
    ['INVENTORY_TOKENS_FILE'],
    nonBlank().optional(),
    'api-tokens-file',
  ),
  inventoryTlsCert: replacedSetting(
    'inventory-tls-cert',
    ['INVENTORY_TLS_CERT'],
    nonBlank().optional(),
    'api-tls-cert',
  ),
  inventoryTlsKey: replacedSetting(
    'inventory-tls-key',
    ['INVENTORY_TLS_KEY'],
    nonBlank().optional(),
    'api-tls-key',
  ),
  inventoryPlainHttp: replacedSetting(
    'inventory-plain-http',
    ['INVENTORY_PLAIN_HTTP'],
    boolean().optional(),
    'api-plain-http',
  ),
} satisfies Settings;

export type InventorySettings = Values<typeof inventorySettings>;
