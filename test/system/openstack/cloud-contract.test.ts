import { startContrabass } from '../../../rig/cloud/start.ts';
import { useStack } from '../../../rig/openstack/stack.ts';
import { cloudContract } from '../../contract/cloud/suite.ts';

const open = async () => {
  const stack = await useStack((line) => process.stderr.write(`${line}\n`));
  const contrabass = await startContrabass({
    encryptKey: 'contract-key-16b',
    // Contrabass stores Keystone's root.
    keystoneUrl: stack.keystoneUrl.replace(/\/v3$/, ''),
    admin: stack.admin,
  });
  const { contrabassUrl: endpoint, providerId, encryptKey } = contrabass;
  return {
    keystoneUrl: stack.keystoneUrl,
    admin: stack.admin,
    contrabass: { endpoint, providerId, encryptKey },
    async [Symbol.asyncDispose]() {
      await contrabass[Symbol.asyncDispose]();
      await stack[Symbol.asyncDispose]();
    },
  };
};

cloudContract('real OpenStack', open, { inTurn: true });
