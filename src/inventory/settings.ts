import { address, boolean, nonBlank } from '../process/setting-schemas.ts';
import { type Settings, setting, type Values } from '../process/settings.ts';

/** Inventory settings; the inventory runs inside the operator. */
export const inventorySettings = {
  inventoryEnabled: setting({
    env: ['INVENTORY_ENABLED'],
    flag: 'inventory-enabled',
    schema: boolean().prefault('true'),
    description: 'serve the inventory over HTTP',
  }),
  inventoryListen: setting({
    env: ['INVENTORY_ADDR'],
    flag: 'inventory-listen',
    schema: address().prefault('127.0.0.1:18081'),
    description:
      'address of the inventory; loopback is enough for kubectl port-forward, default 127.0.0.1:18081',
  }),
  inventoryTokensFile: setting({
    env: ['INVENTORY_TOKENS_FILE'],
    flag: 'inventory-tokens-file',
    schema: nonBlank().optional(),
    description:
      'YAML list of {name, sha256, providers, verbs}: who may read from elsewhere; 30 s after it is gone or broken nobody may',
  }),
  inventoryTlsCert: setting({
    env: ['INVENTORY_TLS_CERT'],
    flag: 'inventory-tls-cert',
    schema: nonBlank().optional(),
    description: 'PEM file of the server certificate; read again every minute',
  }),
  inventoryTlsKey: setting({
    env: ['INVENTORY_TLS_KEY'],
    flag: 'inventory-tls-key',
    schema: nonBlank().optional(),
    description: 'PEM file of its key',
  }),
  inventoryPlainHttp: setting({
    env: ['INVENTORY_PLAIN_HTTP'],
    flag: 'inventory-plain-http',
    schema: boolean().prefault('false'),
    description:
      'serve without TLS on an address that is not loopback; something else has to guard it',
  }),
} satisfies Settings;

export type InventorySettings = Values<typeof inventorySettings>;
