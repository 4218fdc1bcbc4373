// The choice among the edits of a run: each is shown as a diff before it is applied.

import * as vscode from "vscode";

const APPLY = "Apply";
const OTHERS = "Other Edits";

/** Holds the texts that are shown beside a document: what it would be with an edit. */
export class Originals implements vscode.TextDocumentContentProvider {
  static readonly scheme = "autofix-proposed";
  private readonly texts = new Map<string, string>();
  private count = 0;

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  add(document: vscode.Uri, text: string): vscode.Uri {
    const query = String(this.count++);
    const uri = document.with({ scheme: Originals.scheme, authority: "", query });
    this.texts.set(uri.toString(), text);
    return uri;
  }
}

/** Let a person choose among the edits for the failure in a document; nothing is changed before it was seen. */
export async function choose(document: vscode.TextDocument, originals: Originals): Promise<void> {
  for (;;) {
    const fixes = await offered(document);
    if (fixes.length === 0) {
      void vscode.window.showInformationMessage("autofix: no edit is known for this text; repair and prove it first.");
      return;
    }
    const items = fixes.map((fix) => ({ label: fix.isPreferred ? `$(verified) ${fix.title}` : fix.title, fix }));
    const chosen = await vscode.window.showQuickPick(items, {
      title: "autofix: edits that were run, best first",
      placeHolder: "Each is shown before it is applied",
    });
    if (chosen?.fix.edit === undefined || !(await again(chosen.fix, chosen.fix.edit, originals))) {
      return;
    }
  }
}

/** The quick fixes of the server for what a run showed, wherever in the workspace: the failure first, then warnings. */
async function offered(document: vscode.TextDocument): Promise<vscode.CodeAction[]> {
  const elsewhere = (uri: vscode.Uri): number => (uri.toString() === document.uri.toString() ? 0 : 1);
  const places = vscode.languages
    .getDiagnostics()
    .flatMap(([uri, found]) => found.map((one) => ({ uri, one })))
    .filter(({ one }) => one.source === "autofix" && one.severity <= vscode.DiagnosticSeverity.Warning)
    .sort((a, b) => a.one.severity - b.one.severity || elsewhere(a.uri) - elsewhere(b.uri));
  for (const { uri, one } of places) {
    const found = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      "vscode.executeCodeActionProvider", uri, one.range, vscode.CodeActionKind.QuickFix.value,
    );
    const fixes = found.filter((action) => action.edit !== undefined && /^AG\d/.test(action.title));
    if (fixes.length > 0) {
      return fixes;
    }
  }
  return [];
}

/** Show an edit, and apply it where that is wanted; returns whether another one is to be chosen. */
async function again(fix: vscode.CodeAction, edit: vscode.WorkspaceEdit, originals: Originals): Promise<boolean> {
  const plain = new vscode.WorkspaceEdit();
  for (const [uri, edits] of edit.entries()) {
    const document = await vscode.workspace.openTextDocument(uri);
    const proposed = originals.add(uri, edited(document, edits));
    await vscode.commands.executeCommand("vscode.diff", uri, proposed, `${vscode.workspace.asRelativePath(uri)}: ${fix.title}`);
    plain.set(uri, edits.map((one) => vscode.TextEdit.replace(one.range, one.newText)));
  }
  const ask = fix.isPreferred ? vscode.window.showInformationMessage : vscode.window.showWarningMessage;
  const answer = await ask<string>(`autofix: ${fix.title}`, APPLY, OTHERS);
  await close();
  if (answer === APPLY) {
    await vscode.workspace.applyEdit(plain);
  }
  return answer === OTHERS;
}

async function close(): Promise<void> {
  const shown = vscode.window.tabGroups.all
    .flatMap((group) => group.tabs)
    .filter(({ input }) => input instanceof vscode.TabInputTextDiff && input.modified.scheme === Originals.scheme);
  await vscode.window.tabGroups.close(shown);
}

/** A document's text with edits that do not overlap. */
function edited(document: vscode.TextDocument, edits: vscode.TextEdit[]): string {
  let text = document.getText();
  for (const one of [...edits].sort((a, b) => b.range.start.compareTo(a.range.start))) {
    text = text.slice(0, document.offsetAt(one.range.start)) + one.newText + text.slice(document.offsetAt(one.range.end));
  }
  return text;
}
