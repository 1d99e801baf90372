/** The resolved set of server registrations: who named which server, which one won, and why one is off (SPEC CA-5, CA-8). */
import type { MisconfiguredServer, ServerConfig } from './config.ts';

/** The plugin a server came from. */
export interface PluginAttribution {
  readonly id: string;
  /** As people read it. */
  readonly name: string;
}

/** The connector a server stands for. */
export interface ConnectorAttribution {
  readonly id: string;
  readonly name?: string;
}

/** The kinds of source, weakest first. A stronger kind wins a name whatever the order of registration. */
export const sourceKinds = ['plugin', 'selectedPlugin', 'config', 'compatibility', 'extension'] as const;
/** One of {@link sourceKinds}. */
export type SourceKind = (typeof sourceKinds)[number];

/**
 * Who names a server.
 *
 * Among plugins, and among selected plugins, the smaller `order` wins; among extensions the larger one. Whatever is equal
 * is decided by the order of registration: the later one wins. Ids never decide.
 */
export type ServerSource =
  | { readonly kind: 'plugin' | 'selectedPlugin'; readonly plugin: PluginAttribution; readonly order: number }
  | { readonly kind: 'config'; readonly file?: string }
  | { readonly kind: 'compatibility'; readonly id: string }
  | { readonly kind: 'extension'; readonly id: string; readonly order: number };

/** One source names one server: a configuration, or the reason there is none. */
export type ServerRegistration = {
  readonly name: string;
  readonly source: ServerSource;
  readonly connector?: ConnectorAttribution;
} & ({ readonly config: ServerConfig } | { readonly failure: MisconfiguredServer });

/** One source takes a name out, as strong as a registration of that source would be. */
export interface ServerRemoval {
  readonly name: string;
  readonly source: ServerSource;
}

/** What one source says of one name. */
export type CatalogAction =
  | { readonly kind: 'register'; readonly registration: ServerRegistration }
  | { readonly kind: 'remove'; readonly removal: ServerRemoval };

/** A text that must be equal, begin so, or match a pattern as a whole. */
export type TextRule = string | { readonly exact: string } | { readonly prefix: string } | { readonly pattern: string };

/**
 * One server that may run: by its exact command, by command and arguments (each in its place, none more), or by its url.
 *
 * With `name`, only a server of that name.
 */
export type ServerRule = { readonly name?: string } & (
  { readonly command: string; readonly args?: readonly TextRule[] } | { readonly url: TextRule }
);

/** What servers must be to run. A server that no rule allows is disabled, with the source as its reason (SPEC CA-8). */
export interface ServerRequirements {
  /** Who demands it, as people read it: `/etc/holdfast/requirements.json`, `Example Inc.` */
  readonly source: string;
  readonly allow: readonly ServerRule[];
}

/** Why a server of a catalog is off. */
export type DisabledReason =
  | { readonly kind: 'configuration' }
  | { readonly kind: 'veto'; readonly reason?: string }
  | { readonly kind: 'requirements'; readonly source: string };

/** A name's winner. */
export type CatalogServer = {
  readonly source: ServerSource;
  readonly connector?: ConnectorAttribution;
  readonly disabled?: DisabledReason;
} & (
  | {
      /** With `enabled: false` when it is off. */
      readonly config: ServerConfig;
    }
  | { readonly failure: MisconfiguredServer }
);

/** One side of a conflict. */
export interface ConflictAction {
  readonly kind: CatalogAction['kind'];
  readonly source: ServerSource;
}

/** Sources of one kind that name the same server. Reported, never fatal; what a stronger kind hides is no conflict. */
export interface CatalogConflict {
  readonly name: string;
  /** What won the name in the end, of whatever kind. */
  readonly outcome: ConflictAction;
  /** Weakest first. */
  readonly contenders: readonly ConflictAction[];
}

/**
 * A resolved catalog. Plain data, but for the transports and factories that code gave. Make one with
 * `createCatalogBuilder`.
 */
export interface Catalog {
  /** Server name → its winner, disabled and misconfigured ones included. */
  readonly servers: Readonly<Record<string, CatalogServer>>;
  readonly conflicts: readonly CatalogConflict[];
  /** Names that were registered and taken out again → who took them out. Absent when there are none. */
  readonly removed?: Readonly<Record<string, ServerSource>>;
  /** Everything that was registered and removed, in that order: what a further builder starts from. */
  readonly actions: readonly CatalogAction[];
  /** Names that are off whoever wins them, with the reason if one was given. */
  readonly vetoes: Readonly<Record<string, DisabledReason>>;
  readonly requirements: readonly ServerRequirements[];
  /** Values to redact everywhere. */
  readonly secrets: readonly string[];
}

/** Where a server came from: what its tools and its status show (SPEC NM-5). */
export interface ServerProvenance {
  readonly source?: SourceKind;
  /** The file that names it, absolute. */
  readonly file?: string;
  /** The id of the extension, or of the compatibility source, that names it. */
  readonly id?: string;
  readonly plugin?: PluginAttribution;
  readonly connector?: ConnectorAttribution;
}
