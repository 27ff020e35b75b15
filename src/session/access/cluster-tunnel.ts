import { existsSync } from 'node:fs';
import { accessTexts } from '../../api/texts/access.ts';
import { filled } from '../../api/texts/text.ts';
import { addContext, noAccess } from '../../explain/missing-texts.ts';
import type { ClusterAccess } from '../../kube/access/access.ts';
import { DeadlineReached } from '../../time/deadline.ts';
import { type ChildLimit, NoSuchProgram } from './child.ts';
import { accessOf, type ClusterFlags } from './cluster-access.ts';
import { type ClusterChoice, type Tunnel, tunnels } from './kubectl.ts';
import { type AccessChoice, choiceOf, kubeconfigOf } from './sources.ts';
import { Unread } from './unread.ts';

/** Returns the choice for a cluster; undefined: the management cluster. Throws Unread without access options. */
export function requiredChoice(options: AccessChoice, provider: string | undefined): ClusterChoice {
  const choice = choiceOf(options, provider);
  if (choice) return choice;
  throw new Unread(noAccess, addContext(provider ?? ''));
}

/**
 * Opens access to a cluster through kubectl, or by the kubeconfig without kubectl; undefined: the management cluster.
 * Throws Unread or AccessError with the user's next step, DeadlineReached at the limit.
 */
export async function openCluster(
  options: AccessChoice,
  provider: string | undefined,
  limit: ChildLimit,
): Promise<Tunnel<ClusterAccess>> {
  const choice = requiredChoice(options, provider);
  const flags = flagsFor(provider);
  try {
    const tunnel = await tunnels.startProxy(choice, limit);
    const ended = tunnel.ended.then((error) => failedProxy(error, choice, flags));
    return { ...tunnel, ended };
  } catch (error) {
    if (error instanceof NoSuchProgram) {
      return withoutChild(await accessOf(kubeconfigOf(choice.kubeconfig), choice.context, flags));
    }
    const isKnown = error instanceof Unread || error instanceof DeadlineReached;
    if (isKnown || limit.signal.aborted || !(error instanceof Error)) throw error;
    throw failedProxy(error, choice, flags);
  }
}

/** Returns access without a child process. */
function withoutChild(access: ClusterAccess): Tunnel<ClusterAccess> {
  const ended = new Promise<never>(() => undefined);
  return { ...access, ended, [Symbol.asyncDispose]: () => Promise.resolve() };
}

/** Returns the options by which the user chose a cluster. */
function flagsFor(provider: string | undefined): ClusterFlags {
  if (provider === undefined) return { file: '--kubeconfig', context: '--context' };
  return {
    file: `--business-kubeconfig ${provider}=FILE`,
    context: `--business-context ${provider}=CONTEXT`,
  };
}

function failedProxy(error: Error, { kubeconfig }: ClusterChoice, flags: ClusterFlags): Unread {
  if (kubeconfig !== undefined && !existsSync(kubeconfig)) {
    return new Unread(
      filled(accessTexts.noSuchKubeconfig, { kubeconfig }),
      filled(accessTexts.giveKubeconfig, { option: flags.file }),
    );
  }
  return new Unread(
    filled(accessTexts.kubectlFailed, { message: error.message.replace(/^error: /, '') }),
    filled(accessTexts.checkKubeconfig, { option: flags.context }),
  );
}
