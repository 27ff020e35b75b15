import { startApiServer } from '../../../rig/apiserver/server.ts';
import { kubeContract } from './contract.ts';

kubeContract('the embedded API server', async () => {
  const server = await startApiServer();
  return {
    access: server.access,
    accessAs: (user) => Promise.resolve(server.accessAs(user)),
    [Symbol.asyncDispose]: () => server.close(),
  };
});
