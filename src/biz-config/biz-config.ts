import * as z from 'zod';
import {
  type BizConfigSpec,
  type BizConfigStatus,
  bizConfigSpec,
  bizConfigStatus,
} from '../api/multinicbizconfig.ts';
import type { BizConfigGroup } from '../api/names.ts';
import type { KubeObject } from '../kube/object.ts';
import { defineResource, type Resource } from '../kube/resource.ts';

/** A MultiNicBizConfig as read from the API server. */
export interface BizConfig extends KubeObject {
  /** undefined: the spec is unreadable, and no object changes. An object without a spec has no nodes. */
  readonly spec: BizConfigSpec | undefined;
  /** The unreadable spec field with the reason; empty when `spec` is defined. */
  readonly flaw: string;
  readonly status: BizConfigStatus | undefined;
}

type RawObject = KubeObject & { readonly spec?: unknown; readonly status?: unknown };

/** Parses objects stored under a looser CRD schema; never throws. */
export function readBizConfig(raw: unknown): BizConfig {
  const { spec = {}, status, ...object } = raw as RawObject;
  const read = bizConfigSpec.safeParse(spec);
  const { managedFields: _, ...metadata } = object.metadata;
  return {
    ...object,
    metadata,
    spec: read.data,
    flaw: read.success ? '' : z.prettifyError(read.error),
    status: bizConfigStatus.safeParse(status).data,
  };
}

/** Returns the MultiNicBizConfig resource for one API group. */
export function bizConfigsIn(group: BizConfigGroup): Resource<BizConfig> {
  return defineResource<BizConfig>({
    group,
    version: 'v1',
    plural: 'multinicbizconfigs',
    kind: 'MultiNicBizConfig',
    namespaced: true,
    parse: readBizConfig,
  });
}
