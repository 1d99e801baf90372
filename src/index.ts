/**
 * The contract of `holdfast`: named exports only.
 *
 * Absent on purpose: the statecharts (`holdfast/machines`), the protocol edge (`holdfast/mcp`), reading configuration
 * (`holdfast/config`), the test kit (`holdfast/testing`), inspection servers (`holdfast/inspector`). No type here mentions
 * XState.
 */
export { createHost, createThread } from './host.ts';
export { createCatalogBuilder, withServers } from './catalog/builder.ts';
export type { CatalogBuilder, ServerSet } from './catalog/builder.ts';
export { createEnvironments } from './catalog/environments.ts';
export type { EnvironmentRegistry } from './catalog/environments.ts';
export { commandLauncher, localLauncher } from './catalog/launchers.ts';
export type { CommandLauncherOptions } from './catalog/launchers.ts';
export { pluginAttributions, toRuntimeServers } from './catalog/projection.ts';
export { isAllowed } from './catalog/requirements.ts';
export { createApprovalMemory, rememberChoices } from './domain/approval-memory.ts';
export type {
  ApprovalKey,
  ApprovalMemory,
  ApprovalScope,
  ApprovedTool,
  RememberChoice,
  RememberedApproval,
} from './domain/approval-memory.ts';
export type { AuthorizationOptions, CredentialStore, SignInReader, SignInRequest } from './domain/authorization.ts';
export { errorCodes, HoldfastError } from './domain/errors.ts';
export { sourceKinds } from './domain/catalog.ts';
export { approvalModes, defaults, httpTransports, logLevels, oauthGrants, protocolModes } from './domain/config.ts';
export type {
  AuthorizationOutcome,
  AuthorizeOptions,
  BeginStepOptions,
  CallOptions,
  Clock,
  CloseOptions,
  ElicitationReviewer,
  Environments,
  Extension,
  ExtensionServers,
  ExtensionSkill,
  Host,
  HostOptions,
  InspectionFrame,
  ListAllOptions,
  ListOptions,
  Publication,
  ReadOptions,
  ReadSkillOptions,
  ReadyOptions,
  ReplaceOptions,
  RequestOptions,
  ResourceClient,
  ReviewRequest,
  Root,
  RuntimeServers,
  SamplingHandler,
  ServerRequests,
  Step,
  Thread,
  ThreadOptions,
  WorldStateSection,
} from './api.ts';
export type {
  ApprovalMode,
  ElicitationPolicy,
  GivenTransportServer,
  HttpServer,
  HttpTransport,
  InMemoryServer,
  Limits,
  LogLevel,
  McpServerFactory,
  McpServerLike,
  McpTransport,
  MisconfiguredServer,
  OAuthConfig,
  OAuthGrant,
  Policy,
  ProtocolMode,
  ServerConfig,
  ServerMap,
  ServerSettings,
  StdioServer,
  ToolSettings,
} from './domain/config.ts';
export type {
  Attribution,
  ElicitationAnswer,
  ElicitationKind,
  ElicitationOutcome,
  PendingElicitation,
  RespondOutcome,
} from './domain/elicitation.ts';
export type {
  Catalog,
  CatalogAction,
  CatalogConflict,
  CatalogServer,
  ConflictAction,
  ConnectorAttribution,
  DisabledReason,
  PluginAttribution,
  ServerProvenance,
  ServerRegistration,
  ServerRemoval,
  ServerRequirements,
  ServerRule,
  ServerSource,
  SourceKind,
  TextRule,
} from './domain/catalog.ts';
export type {
  EnvironmentState,
  EnvironmentStates,
  FindFilesOptions,
  LaunchCommand,
  Launcher,
  LaunchRequest,
  Place,
  ReadFileOptions,
  SelectedRoot,
} from './domain/environment.ts';
export type { CallErrorOutcome, ErrorCode, ErrorDetails, Failure, Issue } from './domain/errors.ts';
export type {
  CallEndedEvent,
  CallEvent,
  CallFacts,
  CallOutcome,
  CallProgressedEvent,
  ElicitationOpenedEvent,
  ElicitationSettledEvent,
  Fact,
  ResourceUpdatedEvent,
  RuntimeEvent,
  ServerChangedEvent,
  ServerLoggedEvent,
  StepEvent,
  ThreadClosedEvent,
  ThreadEvent,
  ToolsChangedEvent,
  WarningEvent,
} from './domain/events.ts';
export type { DeclaredFile, FileProvider } from './domain/files.ts';
export type { Json, JsonObject } from './domain/json.ts';
export type {
  FromServer,
  ListedResource,
  ListedResourceTemplate,
  ResourceContents,
  ResourceListing,
  ResourcePage,
  ResourceReadResult,
} from './domain/resource.ts';
export { statusDetails } from './domain/status.ts';
export type {
  CallCounts,
  CallLatency,
  ListingStatus,
  MissingTool,
  ServerStatus,
  StatusDetail,
  StatusOptions,
  ThreadStatus,
  ToolCounts,
  ToolStatus,
} from './domain/status.ts';
export type { ToolCache } from './domain/tool-cache.ts';
export type { SkillAddress, SkillContent, SkillInfo, SkillNeed, SkillOrigin } from './domain/skill.ts';
export type {
  AuthState,
  CallSnapshot,
  CallState,
  Era,
  HolderSnapshot,
  PluginSnapshot,
  RuntimeSnapshot,
  ServerInfo,
  ServerSnapshot,
  ServerState,
  StepSnapshot,
  ThreadSnapshot,
  TransportKind,
} from './domain/snapshot.ts';
export type { ContentBlock, ListedTool, Progress, ToolAnnotations, ToolInfo, ToolResult } from './domain/tool.ts';
