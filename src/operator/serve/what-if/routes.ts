import type { FastifyRequest } from 'fastify';
import * as z from 'zod';
import { problem } from '../../../api/node-configs-http.ts';
import { planVerb, planView, readPaths } from '../../../api/read-http.ts';
import type { Admit } from '../../../http/admission.ts';
import { admitApiCallers, refuseStale, visibleProviders } from '../../../http/api-callers.ts';
import type { HttpServer } from '../../../http/app.ts';
import { HttpProblem } from '../../../http/problem.ts';
import { everyBody, everyRoute, problemResponses } from '../../../http/problem-responses.ts';
import type { TokenFile } from '../../../http/token-file.ts';
import type { Store as ObjectStore } from '../../../kube/cache/store.ts';
import type { ConfigMemories } from '../../model/memory/config-memory.ts';
import { latestObject } from '../../model/memory/latest-object.ts';
import type { ConfigObject } from '../../model/openstack-config.ts';
import { providerIdOf } from '../../model/resolve/credentials.ts';
import type { OperatorSettings } from '../../model/settings/operator.ts';
import { editBody, readEdit } from './edit.ts';
import { refuseForeignOrigin, refuseOtherMediaTypes } from './guards.ts';
import { storedPlanView } from './store-plan.ts';
import { lastPlan } from './stored-plan.ts';
import type { WhatIf } from './what-if.ts';

export interface PlanRoutesDeps {
  readonly configs: Pick<ObjectStore<ConfigObject>, 'get'>;
  readonly memories: Pick<ConfigMemories, 'find'>;
  readonly settings: OperatorSettings;
  readonly whatIf: WhatIf;
  /** Tokens for remote callers; undefined: only loopback callers. */
  readonly tokens: TokenFile | undefined;
  /** Returns why this replica may not answer; undefined: this replica leads. */
  readonly unavailable: () => string | undefined;
}

const params = z.object({
  namespace: z.string().min(1).max(63),
  name: z.string().min(1).max(253),
});
const url = `${readPaths.plan}/:namespace/:name`;
const errors = problemResponses(problem, ...everyRoute, 404);

/** Registers the routes for the last full sync's plan and for what-ifs. */
export function servePlans(app: HttpServer, deps: PlanRoutesDeps): void {
  const { memories, whatIf, tokens } = deps;
  app.get(
    url,
    {
      config: { admit: admitApiCallers(tokens, 'read') },
      schema: {
        operationId: 'getPlan',
        summary: 'Plan of the last sync of all servers',
        params,
        response: { 200: planView, ...errors },
      },
    },
    async (request) => {
      const { key, object } = findConfig(request, request.params, deps);
      const memory = memories.find(key);
      // A recreated object has no plan yet.
      const isPresent = memory?.uid === object.metadata.uid;
      const plan = memory && isPresent ? lastPlan.of(memory.term) : undefined;
      if (plan && maySee(request, plan.providerId)) return storedPlanView(plan);
      const detail = `${key} was not planned since this operator leads; wait for a sync, or send a what-if (POST)`;
      throw new HttpProblem(404, 'NotPlannedYet', detail);
    },
  );
  app.post(
    url,
    {
      config: { admit: admitWhatIfs(tokens) },
      schema: {
        operationId: 'whatIf',
        summary: 'Plan as it would be with other fields of spec; changes nothing',
        params,
        body: z.unknown().meta(bodySchema()),
        response: {
          200: planView,
          ...errors,
          ...problemResponses(problem, 409, 422, ...everyBody),
        },
      },
    },
    async (request) => {
      const { key, object } = findConfig(request, request.params, deps);
      if (object.metadata.deletionTimestamp !== undefined) {
        const detail = `${key} is being deleted: no sync plans for it any more`;
        throw new HttpProblem(409, 'Deleting', detail);
      }
      const edit = readEdit(request.body ?? {});
      const memory = memories.find(key);
      const latest = memory ? latestObject({ object, memory }) : object;
      return whatIf(latest, edit, request.work);
    },
  );
}

function admitWhatIfs(tokens: TokenFile | undefined): Admit {
  const admit = admitApiCallers(tokens, planVerb);
  return async (request) => {
    const caller = await admit(request);
    refuseForeignOrigin(request);
    refuseOtherMediaTypes(request);
    return caller;
  };
}

/** Returns the body's schema for the OpenAPI document; `readEdit` names wrong fields better than this schema. */
function bodySchema() {
  const { $schema: _, ...described } = z.toJSONSchema(editBody, { io: 'input' });
  return described;
}

/** Finds the OpenstackConfig. Throws 404 also if the caller may not read the business cluster. */
function findConfig(
  request: FastifyRequest,
  { namespace, name }: z.infer<typeof params>,
  { configs, settings, unavailable }: PlanRoutesDeps,
): { readonly key: string; readonly object: ConfigObject } {
  refuseStale(unavailable());
  const key = `${namespace}/${name}`;
  const object = configs.get(key);
  if (object && maySee(request, providerIdOf(object, settings))) return { key, object };
  const detail = `no OpenstackConfig ${key} in a namespace that the operator watches and a business cluster that the caller may read`;
  throw new HttpProblem(404, 'NoSuchOpenstackConfig', detail);
}

function maySee(request: FastifyRequest, providerId: string | undefined): boolean {
  const providers = visibleProviders(request);
  return providers === undefined || (providerId !== undefined && providers.includes(providerId));
}
