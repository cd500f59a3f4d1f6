import Foundation
import PackagePlugin

/// Has the files of `Web/` compiled into the target that uses it: whoever adds a file there need not list it.
@main
struct EmbedWeb: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let folder = context.package.directoryURL.appending(path: "Web")
        let found = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey])
        let files = (found?.compactMap { $0 as? URL } ?? []).filter {
            (try? $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) ?? false
        }.sorted { $0.path < $1.path }
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedFiles.swift")
        return [
            .buildCommand(
                displayName: "Embedding Web", executable: try context.tool(named: "embed-web").url,
                arguments: [output.path, folder.path] + files.map(\.path), inputFiles: files, outputFiles: [output])
        ]
    }
}
