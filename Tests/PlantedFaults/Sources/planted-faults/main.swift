import Foundation
import PlantedFaults

guard let tool = Tool(Array(CommandLine.arguments.dropFirst())) else {
    print(Tool.usage)
    exit(2)
}
do {
    let isEnough = try tool.run(at: URL(fileURLWithPath: FileManager.default.currentDirectoryPath))
    exit(isEnough ? 0 : 1)
} catch {
    print(error)
    exit(1)
}
