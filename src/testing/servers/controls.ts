/** What a test can ask of, and tell, a scripted server that runs in its own process. */
import type { ListedTool } from '../../domain/tool.ts';
import type { JournalEntry, JournalKind } from './journal.ts';
import type { ServerScript } from './script.ts';
import type { Stage } from './stage.ts';
import { plainTool } from './stage.ts';

/** The test's side of a scripted server. */
export class ServerControls {
  /** @internal */
  protected readonly stage: Stage;

  /** @internal */
  constructor(stage: Stage) {
    this.stage = stage;
  }

  get script(): ServerScript {
    return this.stage.script;
  }

  /** What happened so far, oldest first. */
  get journal(): readonly JournalEntry[] {
    return this.stage.journal.entries;
  }

  /** The keys of the calls that wait for their release, one for each call. */
  get parked(): readonly string[] {
    return this.stage.parked;
  }

  /** How often `tool` began to run; all tools together without a name. */
  calls(tool?: string): number {
    return this.stage.journal.calls(tool);
  }

  /** Resolves with the first entry of this kind, or that matches: past or future, leaving out the first `from` entries. */
  until(matches: JournalKind | ((entry: JournalEntry) => boolean), from = 0): Promise<JournalEntry> {
    return this.stage.journal.until(typeof matches === 'string' ? (entry) => entry.kind === matches : matches, from);
  }

  /** Resolves when a call is parked under `key`: at once if one is now. */
  untilParked(key: string): Promise<void> {
    return this.stage.untilParked(key);
  }

  /** Ends the calls parked under `key`, which return `value`; with none, the next one ends at once. */
  release(key: string, value?: unknown): void {
    this.stage.release(key, value);
  }

  /** Adds a tool and says that the list changed. A name makes a tool that returns its arguments. */
  addTool(tool: string | ListedTool): Promise<void> {
    return this.stage.addTool(typeof tool === 'string' ? plainTool(tool) : tool);
  }

  /** Removes a tool, a built-in one too, and says that the list changed. */
  removeTool(name: string): Promise<void> {
    return this.stage.removeTool(name);
  }

  /** Says that a resource changed. */
  updateResource(uri: string): Promise<void> {
    return this.stage.publish((publisher) => publisher.resourceUpdated(uri));
  }

  /** Says that a url question is done; `requireUrl` then lets it pass. */
  completeUrl(elicitationId: string): Promise<void> {
    return this.stage.completeUrl(elicitationId);
  }
}
